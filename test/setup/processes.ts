import { readFile } from 'node:fs/promises';
import { processCommand } from '../../src/local/process-identity.js';

/** Returns whether a process is alive. A zombie has no command, so it does not count as alive. */
export const isAlive = async (pid: number): Promise<boolean> => (await processCommand(pid)) !== undefined;

export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').map(Number);
}
