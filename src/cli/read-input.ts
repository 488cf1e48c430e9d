import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import { decodeText } from '../platform/env/environment-files.js';
import { isUuid } from '../platform/uuid.rules.js';

/** Returns the content of a file; `-` is the standard input. */
export const readInput = async (file: string): Promise<string> =>
  decodeText(await (file === '-' ? buffer(process.stdin) : readFile(file)));

export function readId(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It must be a UUID.');
  return text.toLowerCase();
}
