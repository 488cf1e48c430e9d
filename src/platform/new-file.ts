import { rm, writeFile } from 'node:fs/promises';

/** Writes a new file that only the account of this process can read. Leaves no part of it if the disk is full. */
export async function writeNewFile(file: string, text: string | AsyncIterable<string>): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(file, { force: true }).catch(() => {});
    throw error;
  }
}
