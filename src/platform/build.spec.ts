import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readBuild, readCommit } from './build.js';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';

describe('the commit', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pv-build-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is the one that the build of the image wrote', async () => {
    await writeFile(join(folder, 'commit'), `${COMMIT}\n`);
    expect(await readCommit(folder)).toBe(COMMIT);
  });

  it('is null if nothing tells it', async () => {
    expect(await readCommit(folder)).toBeNull();
  });
});

it('a build has a version and the name of its newest migration', async () => {
  expect(await readBuild()).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    newestMigration: expect.stringMatching(/^\d{14}_/),
  });
});
