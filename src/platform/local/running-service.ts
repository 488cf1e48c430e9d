import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { processStart } from './process-identity.js';

/** Lets the demo and the command line find the service running in this folder. */
export interface RunningService {
  readonly pid: number;
  readonly start: string | undefined;
  readonly url: string;
  readonly databaseUrl: string;
  /** The remote service that it calls; a sandbox unless configured otherwise. */
  readonly remoteUrl: string;
}

const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS']);

const fileIn = (folder: string): string => join(folder, 'running.json');

/** Writes the file. Ignores a folder that is not writable, as in a container: no program looks for the service there. */
export async function writeRunningService(
  folder: string,
  service: Omit<RunningService, 'pid' | 'start'>,
): Promise<void> {
  const { pid } = process;
  const whole: RunningService = { pid, start: await processStart(pid), ...service };
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(fileIn(folder), `${JSON.stringify(whole, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    if (!UNWRITABLE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Returns the running service; undefined if there is none, even if a killed one left its file. */
export async function findRunningService(folder: string): Promise<RunningService | undefined> {
  const text = await readFile(fileIn(folder), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const service = JSON.parse(text) as RunningService;
  const start = await processStart(service.pid);
  return start !== undefined && start === service.start ? service : undefined;
}

export async function removeRunningService(folder: string): Promise<void> {
  if ((await findRunningService(folder))?.pid === process.pid) await rm(fileIn(folder), { force: true });
}
