import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Identifies a process. The start time distinguishes it from a later process with the same id. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly start: string | undefined;
}

export async function identify(pid: number): Promise<ProcessIdentity> {
  return { pid, start: await processStart(pid) };
}

export async function isAlive({ pid, start }: ProcessIdentity): Promise<boolean> {
  return start !== undefined && (await processStart(pid)) === start;
}

/** Returns the command line of a live process, or undefined if the process has ended. */
export async function processCommand(pid: number): Promise<string | undefined> {
  const command =
    process.platform === 'linux'
      ? readFile(`/proc/${pid}/cmdline`, 'utf8').then((text) => text.replaceAll('\0', ' '))
      : outputOfPs('command=', pid);
  // An ended process that its parent has not reaped has an empty command line.
  return (await command.catch(() => '')).trim() || undefined;
}

async function processStart(pid: number): Promise<string | undefined> {
  if ((await processCommand(pid)) === undefined) return undefined;
  if (process.platform !== 'linux') return outputOfPs('lstart=', pid).catch(() => undefined);
  // Field 22 is the start in clock ticks since boot. Field 2 may contain spaces, but ends with the last `)`.
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
}

const outputOfPs = async (column: string, pid: number): Promise<string> =>
  (await run('ps', ['-o', column, '-p', String(pid)])).stdout;
