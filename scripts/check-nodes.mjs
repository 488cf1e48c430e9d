import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { NODE_FLAGS } from '../test/setup/node-flags.mjs';
import { progress } from './progress.mjs';
import { ROOT } from './root.mjs';

/** The oldest release that package.json promises, and the newest of each line. */
const RELEASES = ['20.19.0', '20', '22', '24'];
const STARTED = 'Administrator key';
const TIMEOUT_MS = 120_000;

const run = promisify(execFile);
const JEST = [...NODE_FLAGS, 'node_modules/jest/bin/jest.js'];

/** Runs the tools of the build, starts the service, runs the demo and runs the unit tests on every release. Prints `N passed, N failed` and returns the exit code. */
export async function checkNodes() {
  let failed = 0;
  for (const release of RELEASES) {
    const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-node-'));
    const done = progress(`Node ${release}`);
    try {
      const node = await fetchNode(release, folder);
      const env = { ...process.env, PATH: join(node, '..') + delimiter + process.env.PATH };
      // The build is where packages are loaded that ask for a newer Node (NEWER_NODE in check/package-faults.ts).
      await run(node, ['node_modules/prisma/build/index.js', 'validate'], { cwd: ROOT, env });
      await run(
        node,
        ['node_modules/vite/bin/vite.js', 'build', 'console', '--outDir', join(folder, 'console')],
        {
          cwd: ROOT,
          env,
        },
      );
      await startAndDemo(node, { cwd: folder, env });
      await run(node, [...JEST, 'src/', 'sandbox/'], {
        cwd: ROOT,
        env: { ...env, NODE_ENV: 'test' },
        maxBuffer: 2 ** 26,
      });
    } catch (error) {
      failed++;
      console.error(error.stdout ?? '', error.stderr ?? '', error.message);
    } finally {
      done();
      await rm(folder, { recursive: true, force: true });
    }
  }
  console.log(`${RELEASES.length - failed} passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
}

/** Downloads Node from the npm registry and returns the path of the program. */
async function fetchNode(release, folder) {
  const name = `node-${process.platform}-${process.arch}@${release}`;
  const [{ filename }] = JSON.parse((await run('npm', ['pack', '--json', name], { cwd: folder })).stdout);
  await run('tar', ['-xzf', filename], { cwd: folder });
  return join(folder, 'package/bin/node');
}

/** Starts the service with its data in the working folder, runs the demo against it, and stops the service. */
async function startAndDemo(node, options) {
  const service = spawn(node, [join(ROOT, 'dist/main.js')], {
    ...options,
    env: { ...options.env, PORT: '0', SANDBOX_PORT: '0' },
  });
  const ended = once(service, 'exit');
  try {
    await started(service);
    const demo = `import(${JSON.stringify(join(ROOT, 'scripts/demo.mjs'))}).then(({ demo }) => demo())`;
    await run(node, ['-e', demo], { ...options, timeout: TIMEOUT_MS });
  } finally {
    service.kill('SIGTERM');
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`the service ended with ${code}`);
}

async function started(service) {
  let printed = '';
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  for (const output of [service.stdout, service.stderr]) output.on('data', (chunk) => (printed += chunk));
  while (!printed.includes(STARTED)) {
    if (service.exitCode !== null || timeout.aborted)
      throw new Error(`the service did not start: ${printed}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
