import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identify, isAlive, type ProcessIdentity } from './process-identity.js';

/** The content of running.json, by which the demo and the command line find the service that runs in this folder. */
interface RunningService extends ProcessIdentity {
  readonly url: string;
  readonly databaseUrl: string;
  /** The remote service that the service calls. Default: the sandbox. */
  readonly remoteUrl: string;
}

const fileIn = (folder: string): string => join(folder, 'running.json');

/** Writes running.json. Does nothing if the folder is not writable, as in a container, where no program looks for the service. */
export async function writeRunningService(
  folder: string,
  service: Omit<RunningService, keyof ProcessIdentity>,
): Promise<void> {
  const whole: RunningService = { ...(await identify(process.pid)), ...service };
  try {
    await mkdir(folder, { recursive: true });
    const next = `${fileIn(folder)}.${process.pid}`;
    await writeFile(next, `${JSON.stringify(whole, null, 2)}\n`, { mode: 0o600 });
    // A reader finds the earlier file or this one, and never a part.
    await rename(next, fileIn(folder));
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Returns undefined if no service runs, even if a killed service left running.json, or a damaged one. */
export async function findRunningService(folder: string): Promise<RunningService | undefined> {
  const service = await readFile(fileIn(folder), 'utf8').then(parse, () => null);
  return service !== null && (await isAlive(service)) ? service : undefined;
}

/** Returns null for a text that is not whole, such as that of a full disk. */
function parse(text: string): RunningService | null {
  try {
    const value = JSON.parse(text) as Partial<RunningService> | null;
    return typeof value?.pid === 'number' ? (value as RunningService) : null;
  } catch {
    return null;
  }
}

export async function removeRunningService(folder: string): Promise<void> {
  if ((await findRunningService(folder))?.pid === process.pid) await rm(fileIn(folder), { force: true });
}
