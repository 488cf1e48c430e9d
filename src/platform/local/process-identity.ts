import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Returns the command line of a live process; undefined if there is none. A process id alone proves nothing, since ids are reused. */
export async function processCommand(pid: number): Promise<string | undefined> {
  const command =
    process.platform === 'linux'
      ? readFile(`/proc/${pid}/cmdline`, 'utf8').then((text) => text.replaceAll('\0', ' '))
      : run('ps', ['-o', 'command=', '-p', String(pid)]).then(({ stdout }) => stdout);
  // A process that has ended but was not reaped has an empty command line.
  return command.then(
    (text) => text.trim() || undefined,
    () => undefined,
  );
}

/** Returns the start time, which distinguishes a process from a later one with the same id. */
export async function processStart(pid: number): Promise<string | undefined> {
  if ((await processCommand(pid)) === undefined) return undefined;
  if (process.platform === 'linux') {
    // Field 22 is the start in clock ticks since boot. Field 2 may contain spaces, but ends with the last bracket.
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  }
  return run('ps', ['-o', 'lstart=', '-p', String(pid)]).then(
    ({ stdout }) => stdout.trim() || undefined,
    () => undefined,
  );
}
