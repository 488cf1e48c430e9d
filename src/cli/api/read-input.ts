import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

/** Returns the content of a file; `-` is the standard input. */
export const readInput = (file: string) => (file === '-' ? text(process.stdin) : readFile(file, 'utf8'));
