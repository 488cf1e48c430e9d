import { spawn } from 'node:child_process';
import { ROOT } from './root.mjs';

/** The exit code that shells give to what an interrupt ended. */
export const INTERRUPTED = 130;

/** Runs Node in the project and returns the exit code; `options.output` collects what it writes instead of showing it. */
export async function runNode(args, { env = process.env, output } = {}) {
  const stdio = output === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio });
  child.stdout?.on('data', (chunk) => output.push(chunk));
  child.stderr?.on('data', (chunk) => output.push(chunk));
  // We wait for the child, so that its end is told before ours. A Ctrl-C reaches it twice, from the terminal and from us; an
  // interrupt that npm passes on only from us.
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
