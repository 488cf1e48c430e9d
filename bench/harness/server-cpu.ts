import { readdir, readFile } from 'node:fs/promises';

/** Linux counts CPU time of other processes in hundredths of a second. */
const MICROSECONDS_PER_TICK = 10_000;

interface ProcessTimes {
  readonly parent: number;
  readonly own: number;
  /** Of its children that have ended. */
  readonly ofEnded: number;
}

/** CPU time that a PostgreSQL has taken since it started, all its processes together; null where there is no /proc. */
export async function serverCpuMicroseconds(postmaster: number): Promise<number | null> {
  const root = await timesOf(postmaster);
  if (root === null) return null;
  let ticks = root.own + root.ofEnded;
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const times = await timesOf(Number(name));
    if (times?.parent === postmaster) ticks += times.own;
  }
  return ticks * MICROSECONDS_PER_TICK;
}

async function timesOf(pid: number): Promise<ProcessTimes | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null);
  if (stat === null) return null;
  // The second field is the name in brackets, which may hold anything; proc(5) counts the fields from 1.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  return { parent: field(4), own: field(14) + field(15), ofEnded: field(16) + field(17) };
}
