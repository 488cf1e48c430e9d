import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeNewFile } from '../platform/new-file.js';

/** Returns the keys generated at the first start. They never change: with another encryption key, stored secrets would be unreadable. */
export async function readGeneratedKeys(folder: string) {
  const file = join(folder, 'keys.json');
  const keys = {
    adminApiKey: `local_${randomBytes(32).toString('base64url')}`,
    encryptionKey: randomBytes(32).toString('base64'),
    databasePassword: randomBytes(18).toString('base64url'),
  };
  try {
    await writeNewFile(file, `${JSON.stringify(keys, null, 2)}\n`);
    return keys;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return JSON.parse(await readFile(file, 'utf8')) as typeof keys;
  }
}
