import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeNewFile } from '../platform/new-file.js';
import { identify, isAlive, type ProcessIdentity } from './process-identity.js';

/** The addresses of a service, of its database and of the remote service that it calls. */
interface RunningService {
  readonly url: string;
  readonly databaseUrl: string;
  readonly remoteUrl: string;
}

/** The content of running.json, by which the demo and the command line find the service that runs in this folder. */
interface Holder extends ProcessIdentity {
  /** Absent while the service starts, and if the process runs a command instead of the service. */
  readonly service?: RunningService;
}

const fileIn = (folder: string): string => join(folder, 'running.json');

/** Another live process has reserved the folder. */
export class FolderInUse extends Error {
  constructor(
    folder: string,
    readonly pid: number,
  ) {
    super(
      `${folder} is in use by another service (process ${pid}); stop it, or set DATABASE_URL and SCS_BASE_URL to ` +
        'run several processes on one database',
    );
  }
}

/** Reserves the folder for this process. Throws FolderInUse. */
export async function reserveFolder(folder: string): Promise<void> {
  const holder = await findHolder(folder);
  if (holder !== undefined) throw new FolderInUse(folder, holder.pid);
  await writeHolder(folder);
}

/**
 * Writes running.json. Does nothing if another live process has reserved the folder, or if the folder is not writable, as in a container, or
 * full: no service depends on the file.
 */
export async function writeRunningService(folder: string, service: RunningService): Promise<void> {
  const holder = await findHolder(folder);
  if (holder !== undefined && holder.pid !== process.pid) return;
  try {
    await writeHolder(folder, service);
  } catch (error) {
    if (
      !['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')
    )
      throw error;
  }
}

/** Returns the service that runs in this folder, or undefined. Ignores a running.json that is damaged or that a killed service left. */
export const findRunningService = async (folder: string) => (await findHolder(folder))?.service;

export async function removeRunningService(folder: string): Promise<void> {
  if ((await findHolder(folder))?.pid === process.pid) await rm(fileIn(folder), { force: true });
}

async function writeHolder(folder: string, service?: RunningService): Promise<void> {
  const holder: Holder = { ...(await identify(process.pid)), service };
  await mkdir(folder, { recursive: true });
  const next = `${fileIn(folder)}.${process.pid}`;
  await rm(next, { force: true });
  await writeNewFile(next, `${JSON.stringify(holder, null, 2)}\n`);
  // Renames a complete file, so that a reader never finds a part of it.
  await rename(next, fileIn(folder));
}

async function findHolder(folder: string): Promise<Holder | undefined> {
  try {
    const holder = JSON.parse(await readFile(fileIn(folder), 'utf8')) as Holder;
    return (await isAlive(holder)) ? holder : undefined;
  } catch {
    return undefined;
  }
}
