import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare } from './prepare.mjs';
import { ROOT } from './root.mjs';
import { runNode } from './run-node.mjs';

/** The npm commands. Each first builds what is out of date. Most then run in this process, so that signals reach them directly. */
const COMMANDS = {
  start: async () => {
    await prepare('build');
    loadEnvFile();
    await importBuilt('main.js');
  },
  dev: async (flags) => {
    await prepare('build');
    loadEnvFile();
    await (await import('./dev.mjs')).watch(flags);
  },
  sandbox: async () => {
    await prepare('build');
    loadEnvFile();
    await importBuilt('sandbox/main.js');
  },
  cli: async (args) => {
    await prepare('build');
    loadEnvFile();
    process.argv = [process.argv[0], 'npm run cli --', ...args];
    await importBuilt('cli/main.js');
  },
  demo: async () => {
    await prepare('build');
    loadEnvFile();
    await (await import('./demo.mjs')).demo();
  },
  test: async (args) => {
    await prepare('build');
    process.exitCode = await (await import('./test.mjs')).test(args);
  },
  'test:faults': async (args) => {
    await prepare('build');
    process.exitCode = await (await import('./test-faults.mjs')).testFaults(args);
  },
  bench: async (args) => {
    await prepare('build');
    process.exitCode = await runNode([
      '--import',
      './test/setup/compile/typescript.mjs',
      'bench/main.ts',
      ...args,
    ]);
  },
  'check:container': async (args) => {
    await prepare('build');
    process.exitCode = await (await import('./check-container.mjs')).checkContainer(args);
  },
  'check:nodes': async () => {
    await prepare('build');
    process.exitCode = await (await import('./check-nodes.mjs')).checkNodes();
  },
  check: async (args) => {
    await prepare('build');
    process.exitCode = await (await import('./check.mjs')).check(args);
  },
};

export async function runCommand(name, args) {
  process.chdir(ROOT);
  const command = COMMANDS[name];
  if (command === undefined) {
    console.error(`usage: node scripts/run.mjs <${Object.keys(COMMANDS).join('|')}>`);
    process.exit(1);
  }
  endWithNpm();
  try {
    await command(args);
  } catch (error) {
    console.error(error.isForPeople ? error.message : error);
    process.exit(1);
  }
}

/** Loads `.env`. Variables that are already set take precedence. */
function loadEnvFile() {
  if (existsSync('.env')) process.loadEnvFile('.env');
}

/** Ends this process when npm is killed by SIGKILL, because npm cannot forward that signal. npm forwards all other signals. */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(look);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  look.unref();
}

const importBuilt = (file) => import(pathToFileURL(join(ROOT, 'dist', file)).href);
