import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processCommand } from '../../../src/local/process-identity.js';

/** A child process that ends with the test run at the latest. */
export interface TestProcess {
  readonly url: string;
  readonly pid: number;
  logs(): string;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Sends a signal and waits until the process has exited. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(signal: NodeJS.Signals): void;
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TYPESCRIPT = new URL('../compile/typescript.mjs', import.meta.url).href;

/** Returns the arguments with which Node runs a file of the repository: its compiled form in the test build if that is up to date. */
export function argumentsFor(file: string): string[] {
  const { PV_TEST_BUILD } = process.env;
  if (!file.endsWith('.ts')) return [join(ROOT, file)];
  return PV_TEST_BUILD
    ? ['--preserve-symlinks', '--preserve-symlinks-main', join(PV_TEST_BUILD, file.replace(/\.ts$/, '.js'))]
    : ['--import', TYPESCRIPT, join(ROOT, file)];
}

/**
 * Runs a file in a child process whose environment is PATH and `env`, by a program such as `nsenter` if one is given. Waits for the message
 * `{ type: 'ready', url }`.
 */
export async function startTestProcess(
  file: string,
  env: Record<string, string | undefined>,
  cwd = ROOT,
  args: readonly string[] = [],
  by: readonly string[] = [],
): Promise<TestProcess> {
  const [program = '', ...words] = [...by, process.execPath, ...argumentsFor(file), ...args];
  const child = spawn(program, words, {
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
  // Lets the test run end although the child process runs. The child then ends, because its IPC channel closes.
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
      child.ref();
      child.kill(signal);
      return exited;
    },
  };
}

/** Returns whether a process is alive. A zombie has no command, so it does not count as alive. */
export const isAlive = async (pid: number): Promise<boolean> => (await processCommand(pid)) !== undefined;

export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').map(Number);
}
