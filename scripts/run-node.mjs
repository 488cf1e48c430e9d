import { spawn } from 'node:child_process';
import { ROOT } from './root.mjs';

/** Runs Node in the project and returns the exit code; `options.output` collects what it writes instead of showing it. */
export async function runNode(args, { env = process.env, output } = {}) {
  const stdio = output === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio });
  child.stdout?.on('data', (chunk) => output.push(chunk));
  child.stderr?.on('data', (chunk) => output.push(chunk));
  // Ctrl-C reaches the child by itself: we only wait, so that its end is told before ours.
  const ignore = () => {};
  process.on('SIGINT', ignore);
  const pass = () => child.kill('SIGTERM');
  process.on('SIGTERM', pass);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    });
  } finally {
    process.off('SIGINT', ignore);
    process.off('SIGTERM', pass);
  }
}
