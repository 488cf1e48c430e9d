import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FilesRead } from '../platform/env/environment-files.js';
import type { EnvironmentSource } from '../platform/env/environment-names.js';
import { LOCAL_DEFAULTS, readEnvironment, STAND_INS } from '../platform/env/read-environment.js';
import { startChild, type Child } from './child.js';
import { startEmbeddedPostgres } from './embedded-postgres.js';
import { readGeneratedKeys } from './generated-keys.js';
import { removeRunningService, reserveFolder } from './running-service.js';

export type LocalServices = Awaited<ReturnType<typeof startLocalServices>>;

/** The credentials that the sandbox accepts by default. */
export const SANDBOX_CREDENTIALS = {
  SCS_API_KEY: 'sandbox-api-key',
  SCS_CLIENT_ID: 'sandbox-client-id',
  SCS_CLIENT_SECRET: 'sandbox-client-secret',
};

/**
 * Outside production, starts PostgreSQL and the sandbox and generates the keys, each if its variable is missing. Stores their data in
 * `folder`, which one process at a time can use. Throws ConfigurationError before it starts a process. Returns the complete environment;
 * `failed` resolves to the name of the first started process that ends unexpectedly.
 */
export async function startLocalServices(
  { variables: source, problems }: FilesRead,
  folder: string,
  wanted: { readonly sandbox: boolean },
  say: (line: string) => void,
) {
  const needsDatabase = source.DATABASE_URL === undefined;
  const needsSandbox = wanted.sandbox && source.SCS_BASE_URL === undefined;
  // A caller that needs no sandbox, such as a command, does not call the remote service. So stand-ins can replace the variables of the
  // remote service. A service with SCS_BASE_URL needs real credentials.
  const remoteIsFilled = needsSandbox || !wanted.sandbox;
  const filled = LOCAL_DEFAULTS.filter((name) => remoteIsFilled || !name.startsWith('SCS_'));
  const isProduction = source.NODE_ENV === 'production';
  const standIns = isProduction ? {} : Object.fromEntries(filled.map((name) => [name, STAND_INS[name]]));
  readEnvironment({ ...standIns, ...source }, problems);
  if (isProduction || LOCAL_DEFAULTS.every((name) => source[name] !== undefined))
    return { source, failed: new Promise<string>(() => {}), stop: () => removeRunningService(folder) };

  await mkdir(folder, { recursive: true });
  const keys = await readGeneratedKeys(folder);
  if (needsDatabase || needsSandbox) await reserveFolder(folder);
  if (needsDatabase) say('starting PostgreSQL');
  if (needsSandbox) say('starting the sandbox instead of the Solar Curtailment Service');
  // The sandbox has a database of its own. Otherwise its pending customers would be registered at the real service, for ever.
  const name = source.SCS_BASE_URL === undefined ? 'postgres' : 'postgres-remote';
  const files = { folder: join(folder, name), logFile: join(folder, `${name}.log`) };
  const starts = await Promise.allSettled([
    needsSandbox ? startSandbox(source, folder) : undefined,
    needsDatabase ? startEmbeddedPostgres({ ...files, password: keys.databasePassword }) : undefined,
  ]);
  const [sandbox, postgres] = starts.map((start) => (start.status === 'fulfilled' ? start.value : undefined));
  const children = [sandbox, postgres].filter((child) => child !== undefined);
  const stop = async (): Promise<void> => {
    for (const child of children) await child.stop();
    await removeRunningService(folder);
  };
  const failure = starts.find((start) => start.status === 'rejected');
  if (failure !== undefined) {
    await stop();
    throw failure.reason;
  }
  return {
    source: {
      ...STAND_INS,
      ADMIN_API_KEY: keys.adminApiKey,
      ENCRYPTION_KEYS: keys.encryptionKey,
      ...(postgres && { DATABASE_URL: postgres.url }),
      ...(sandbox && { ...SANDBOX_CREDENTIALS, SCS_BASE_URL: sandbox.url }),
      ...source,
    },
    failed: Promise.race(children.map(({ failed }) => failed)),
    stop,
  };
}

/** Starts the sandbox in a separate process, which gets only the variables of our environment that it needs. */
async function startSandbox(source: EnvironmentSource, folder: string): Promise<Child> {
  const { SCS_API_KEY, SCS_CLIENT_ID, SCS_CLIENT_SECRET } = { ...SANDBOX_CREDENTIALS, ...source };
  return startChild({
    name: 'the sandbox',
    script: new URL('../sandbox/main.js', import.meta.url),
    env: {
      PATH: source.PATH,
      SANDBOX_PORT: source.SANDBOX_PORT,
      SANDBOX_ALLOWED_HOSTS: source.SANDBOX_ALLOWED_HOSTS,
      SANDBOX_API_KEY: SCS_API_KEY,
      SANDBOX_CLIENT_ID: SCS_CLIENT_ID,
      SANDBOX_CLIENT_SECRET: SCS_CLIENT_SECRET,
      SANDBOX_STATE_FILE: source.SANDBOX_STATE_FILE ?? join(folder, 'sandbox.json'),
    },
    logFile: join(folder, 'sandbox.log'),
  });
}
