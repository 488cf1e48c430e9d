import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

/** A process of ours, started for a test; it ends with the test run, however that ends. */
export interface TestProcess {
  readonly url: string;
  readonly pid: number;
  /** Everything it has written so far. */
  logs(): string;
  /** Settles with how it ended. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Sends the signal, also to a process that is stopped, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(signal: NodeJS.Signals): void;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TYPESCRIPT = new URL('./typescript.mjs', import.meta.url).href;

/**
 * Runs a file of this repository, TypeScript or built, and waits until it says `{ type: 'ready', url }`. It gets `env` and
 * nothing else of ours, so that a developer's settings change no test.
 */
export async function startTestProcess(
  file: string,
  env: Record<string, string | undefined>,
  cwd = ROOT,
): Promise<TestProcess> {
  const flags = file.endsWith('.ts') ? ['--import', TYPESCRIPT] : [];
  const child = spawn(process.execPath, [...flags, `${ROOT}/${file}`], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.on(
      'message',
      (message: { type: string; url: string }) => message.type === 'ready' && resolve(message.url),
    );
    void exited.then(({ code, signal }) =>
      reject(new Error(`${file} ended with ${signal ?? code}:\n${text}`)),
    );
  });
  // A test that failed to stop it must not keep the run from ending; the process then sees its channel close.
  child.unref();
  child.channel?.unref();
  for (const stream of [child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
  return {
    url,
    pid: child.pid ?? 0,
    logs: () => text,
    exited,
    kill: (signal) => void child.kill(signal),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
  };
}
