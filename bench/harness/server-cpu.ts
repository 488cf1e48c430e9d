import { readdir, readFile } from 'node:fs/promises';

/** Linux reports CPU time in ticks of a hundredth of a second. */
const MICROSECONDS_PER_TICK = 10_000;

interface ProcessTimes {
  readonly parent: number;
  readonly own: number;
  /** CPU time of the terminated child processes. */
  readonly ofEnded: number;
}

/** Returns the CPU time of all processes of a PostgreSQL server since its start, or null without /proc. */
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
  // Splits after field 2, the name in parentheses, which may contain spaces. `field` takes a number as in proc(5).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  return { parent: field(4), own: field(14) + field(15), ofEnded: field(16) + field(17) };
}
