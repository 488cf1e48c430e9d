import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

/** Returns the content of a file; `-` is the standard input. */
export const readInput = (file: string): Promise<string> =>
  file === '-' ? text(process.stdin) : readFile(file, 'utf8');

/** Returns the parts of a list such as `session.online,inverter.online`. */
export const readList = (text: string): string[] => text.split(',').map((part) => part.trim());

/** Like readList, but `all` is the empty list, which means all types to the API. */
export const readTypes = (text: string): string[] => (text === 'all' ? [] : readList(text));
