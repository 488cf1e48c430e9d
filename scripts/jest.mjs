import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NODE_FLAGS } from '../test/setup/node-flags.mjs';
import { runNode } from './run-node.mjs';

/** The suffix of test files that take minutes. Only `npm run test:faults` runs them. */
export const LONG = '.long.spec.ts';

/** Runs Jest. Returns its exit code, its JSON results (undefined if Jest wrote none), and the notes that tests wrote about promises. */
export async function runJest(args, env = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-results-'));
  const [file, promises] = [join(folder, 'results.json'), join(folder, 'promises')];
  const jest = [...NODE_FLAGS, 'node_modules/jest/bin/jest.js', '--json', `--outputFile=${file}`, ...args];
  try {
    const code = await runNode(jest, {
      env: { ...process.env, NODE_ENV: 'test', PROMISES_FILE: promises, ...env },
    });
    const results = await readFile(file, 'utf8').then(JSON.parse, () => undefined);
    const notes = (await readFile(promises, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    return {
      code: results === undefined ? code || 1 : code,
      results,
      notes: notes.map((note) => JSON.parse(note)),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
