import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { useFolder } from '../../test/setup/folder.js';
import { readBuild, readCommit } from './build.js';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';

describe('the commit', () => {
  const folder = useFolder();

  it('is the one that the build of the image wrote', async () => {
    await writeFile(join(folder, 'commit'), `${COMMIT}\n`);
    expect(await readCommit(folder)).toBe(COMMIT);
  });

  it('is null if nothing tells it', async () => {
    expect(await readCommit(join(folder, 'none'))).toBeNull();
  });
});

it('a build has a version and the name of its newest migration', async () => {
  expect(await readBuild()).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    newestMigration: expect.stringMatching(/^\d{14}_/),
  });
});
