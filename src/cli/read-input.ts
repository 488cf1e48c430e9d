import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';

/** Returns the content of a file; `-` is the standard input. */
export const readInput = (file: string) => (file === '-' ? text(process.stdin) : readFile(file, 'utf8'));

export function readId(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw new InvalidArgumentError('It must be a UUID.');
  return text.toLowerCase();
}
