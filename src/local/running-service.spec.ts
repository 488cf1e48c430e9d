import { access, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { useFolder } from '../../test/setup/folder.js';
import { writeNewFile } from '../platform/new-file.js';
import { identify } from './process-identity.js';
import { findRunningService, removeRunningService, writeRunningService } from './running-service.js';

const folder = useFolder();
const file = join(folder, 'running.json');

const SERVICE = { url: 'http://127.0.0.1:3000', databaseUrl: 'postgres://here', remoteUrl: 'http://there' };

it('finds the service that runs, and replaces the file as a whole', async () => {
  await writeRunningService(folder, { ...SERVICE, url: 'http://127.0.0.1:1' });
  const { ino: before } = await stat(file);
  await writeRunningService(folder, SERVICE);
  const { ino, mode } = await stat(file);
  // The file has been replaced: a file that is overwritten is empty for a moment.
  expect(ino).not.toBe(before);
  expect(mode & 0o777).toBe(0o600);
  expect(await findRunningService(folder)).toMatchObject(SERVICE);
});

it.each(['', '{"pid": 1', 'null', '[]', '{"pid": 99999999, "service": {}}'])(
  'takes a damaged file as that of no service: %j',
  async (text) => {
    await writeFile(file, text);
    expect(await findRunningService(folder)).toBeUndefined();
  },
);

it('removes the file of its own process, and changes no other', async () => {
  await writeFile(file, JSON.stringify({ ...(await identify(process.ppid)), service: SERVICE }));
  await writeRunningService(folder, { ...SERVICE, url: 'http://127.0.0.1:1' });
  await removeRunningService(folder);
  expect(await findRunningService(folder)).toEqual(SERVICE);
  await rm(file);
  await writeRunningService(folder, SERVICE);
  await removeRunningService(folder);
  await expect(access(file)).rejects.toThrow('ENOENT');
});

it('leaves no part of a file that the disk has no space for', async () => {
  const path = join(folder, 'new');
  async function* tooMuch() {
    yield 'the beginning';
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  }
  await expect(writeNewFile(path, tooMuch())).rejects.toThrow('no space left');
  await expect(access(path)).rejects.toThrow('ENOENT');
  await writeFile(path, 'of another process');
  await expect(writeNewFile(path, 'ours')).rejects.toThrow('EEXIST');
  await access(path);
});
