import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runNode } from './run-node.mjs';

/** Minutes of killing and waiting, left to `npm run test:faults`. */
export const LONG = '.long.spec.ts';

/**
 * Jest's exit code, its results as it writes them to a file, and what the tests noted of the promises; without results when it could not
 * begin.
 */
export async function runJest(args, env = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-results-'));
  const [file, promises] = [join(folder, 'results.json'), join(folder, 'promises')];
  const jest = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
    '--json',
    `--outputFile=${file}`,
    ...args,
  ];
  try {
    const code = await runNode(jest, {
      env: { ...process.env, NODE_ENV: 'test', PROMISES_FILE: promises, ...env },
    });
    const results = await readFile(file, 'utf8').then(JSON.parse, () => undefined);
    const notes = (await readFile(promises, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    return { code: results === undefined ? code || 1 : code, results, notes: notes.map(JSON.parse) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
