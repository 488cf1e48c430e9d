import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadEnvFile } from './env-file.mjs';
import { prepare } from './prepare.mjs';
import { ROOT } from './root.mjs';
import { runNode, watch } from './run-node.mjs';

/** The npm commands for the service, which read `.env`. They run in this process, so that signals reach them directly. */
const SERVICE = {
  start: () => importBuilt('main.js'),
  dev: watch,
  sandbox: (args) => {
    process.argv = [process.argv[0], 'npm run sandbox --', ...args];
    return importBuilt('sandbox/main.js');
  },
  cli: (args) => {
    process.argv = [process.argv[0], 'npm run cli --', ...args];
    return importBuilt('cli/main.js');
  },
  demo: async () => (await import('./demo.mjs')).demo(),
};

/** The npm commands for developers. Each returns the exit code. */
const DEVELOPMENT = {
  build: () => 0,
  test: async (args) => (await import('./test.mjs')).test(args),
  'test:faults': async (args) => (await import('./test-faults.mjs')).testFaults(args),
  bench: (args) => runNode(['--import', './test/setup/compile/typescript.mjs', 'bench/main.ts', ...args]),
  generate: (args) =>
    runNode(['--import', './test/setup/compile/typescript.mjs', 'scripts/generated-files.ts', ...args]),
  'check:container': async (args) => (await import('./check-container.mjs')).checkContainer(args),
  'check:nodes': async () => (await import('./check-nodes.mjs')).checkNodes(),
  check: async (args) => (await import('./check.mjs')).check(args),
};

export async function runCommand(name, args) {
  process.chdir(ROOT);
  const names = Object.keys({ ...SERVICE, ...DEVELOPMENT });
  if (!names.includes(name)) {
    console.error(`usage: node scripts/run.mjs <${names.join('|')}>`);
    process.exit(1);
  }
  endWithNpm();
  try {
    await prepare(name === 'build');
    if (name in DEVELOPMENT) process.exitCode = await DEVELOPMENT[name](args);
    else {
      loadEnvFile('.env');
      await SERVICE[name](args);
    }
  } catch (error) {
    console.error(error.isForPeople ? error.message : error);
    process.exit(1);
  }
}

/** Ends this process when npm is killed by SIGKILL, because npm cannot forward that signal. npm forwards all other signals. */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  timer.unref();
}

const importBuilt = (file) => import(pathToFileURL(join(ROOT, 'dist', file)).href);
