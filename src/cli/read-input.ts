import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import { isUuid } from '../platform/uuid.rules.js';

/** Returns the content of a file; `-` is the standard input. */
export const readInput = (file: string) => (file === '-' ? text(process.stdin) : readFile(file, 'utf8'));

export function readId(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It must be a UUID.');
  return text.toLowerCase();
}
