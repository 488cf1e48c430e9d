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
  // Ctrl-C reaches the child by itself: we only wait, so that its end is told before ours.
  let isInterrupted = false;
  const note = () => (isInterrupted = true);
  process.on('SIGINT', note);
  const pass = () => child.kill('SIGTERM');
  process.on('SIGTERM', pass);
  try {
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    });
    return isInterrupted ? INTERRUPTED : code;
  } finally {
    process.off('SIGINT', note);
    process.off('SIGTERM', pass);
  }
}
