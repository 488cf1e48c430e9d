import { chmodSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';

/** Creates a folder that every account can enter. Removes it after the tests of the block. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pv-test-'));
  chmodSync(folder, 0o755);
  afterAll(() => rm(folder, { recursive: true }));
  return folder;
}
