import { spawn } from 'node:child_process';
import { ROOT } from './root.mjs';

/** The exit code that shells report for an interrupted process. */
export const INTERRUPTED = 130;

/**
 * Runs Node in the project folder and returns its exit code. If `options.output` is given, appends the output to it and prints nothing.
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, output?: Buffer[] }} options
 * @returns {Promise<number>}
 */
export async function runNode(args, { env = process.env, output } = {}) {
  /** @type {import('node:child_process').StdioOptions} */
  const stdio = output === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio });
  child.stdout?.on('data', (chunk) => output?.push(chunk));
  child.stderr?.on('data', (chunk) => output?.push(chunk));
  // Forwards signals to the child and waits for its end, so that the child ends before this process. A Ctrl-C on a terminal also reaches
  // the child directly, but a SIGINT from npm does not.
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
    child.kill('SIGINT');
  };
  process.on('SIGINT', interrupt);
  const terminate = () => child.kill('SIGTERM');
  process.on('SIGTERM', terminate);
  try {
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    });
    return isInterrupted ? INTERRUPTED : code;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', terminate);
  }
}

/** Rebuilds and restarts the service after every change of a source file. Passes `flags`, such as --inspect, to Node. */
export async function watch(flags) {
  await Promise.all([
    runNode([
      'node_modules/typescript/bin/tsc',
      '-p',
      'tsconfig.build.json',
      '--watch',
      '--preserveWatchOutput',
    ]),
    runNode(['--watch', ...flags, '--enable-source-maps', 'dist/main.js']),
  ]);
}
