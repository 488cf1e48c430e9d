import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LOCAL_DEFAULTS, readEnvironment, type EnvironmentSource } from '../env/read-environment.js';
import type { Child } from './child.js';
import { lockFolder, type DataLock } from './data-lock.js';
import { startEmbeddedPostgres } from './embedded-postgres.js';
import { readGeneratedKeys } from './generated-keys.js';
import { startSandbox } from './sandbox.js';

export interface LocalServices {
  /** The environment, including the started and generated values. */
  readonly source: EnvironmentSource;
  /** Whether we generated the administrator's key, so that it may be shown. */
  readonly adminKeyIsGenerated: boolean;
  /** Settles with the name of a started process that ends by itself. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

const SANDBOX_VARIABLES = LOCAL_DEFAULTS.filter((name) => name.startsWith('SCS_'));

/** Valid placeholders for values that are not known yet or not needed; no connection is ever made with them. */
const STAND_INS: Readonly<Record<(typeof LOCAL_DEFAULTS)[number], string>> = {
  DATABASE_URL: 'postgresql://nowhere.invalid/none',
  SCS_BASE_URL: 'https://nowhere.invalid',
  SCS_API_KEY: 'none',
  SCS_CLIENT_ID: 'none',
  SCS_CLIENT_SECRET: 'none',
  ADMIN_API_KEY: 'none'.repeat(8),
  ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
};

/**
 * Throws ConfigurationError before anything starts. Credentials without SCS_BASE_URL are the sandbox's; SCS_BASE_URL without credentials is
 * an error.
 */
function refuseFaultsOf(source: EnvironmentSource, remoteIsFilled: boolean): void {
  const filled =
    source.NODE_ENV === 'production'
      ? []
      : LOCAL_DEFAULTS.filter((name) => remoteIsFilled || !name.startsWith('SCS_'));
  const standIns = Object.fromEntries(filled.map((name) => [name, STAND_INS[name]]));
  const given = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined));
  readEnvironment({ ...standIns, ...given });
}

/**
 * Outside production, starts or generates what the environment lacks: PostgreSQL, the sandbox in place of the Solar Curtailment Service,
 * the keys. The data are in `folder`, which belongs to one process at a time.
 */
export async function startLocalServices(
  source: EnvironmentSource,
  folder: string,
  wanted: { readonly sandbox: boolean },
  say: (line: string) => void,
): Promise<LocalServices> {
  const missing = LOCAL_DEFAULTS.filter((name) => source[name] === undefined);
  const children: [string, Child][] = [];
  let lock: DataLock | undefined;
  const stop = async (): Promise<void> => {
    // The sandbox first: other processes depend on PostgreSQL the longest.
    for (const [, child] of children.reverse()) await child.stop();
    await lock?.release();
  };
  const needsSandbox = wanted.sandbox && source.SCS_BASE_URL === undefined;
  refuseFaultsOf(source, needsSandbox || !wanted.sandbox);
  if (source.NODE_ENV === 'production' || missing.length === 0) {
    return { source, adminKeyIsGenerated: false, failed: new Promise(() => {}), stop };
  }
  await mkdir(folder, { recursive: true });
  const keys = await readGeneratedKeys(folder);
  const filled: Record<string, string | undefined> = {
    ...source,
    ADMIN_API_KEY: source.ADMIN_API_KEY ?? keys.adminApiKey,
    ENCRYPTION_KEYS: source.ENCRYPTION_KEYS ?? keys.encryptionKey,
  };
  try {
    const needsDatabase = source.DATABASE_URL === undefined;
    if (needsDatabase || needsSandbox) lock = await lockFolder(folder);
    const starts: Promise<void>[] = [];
    if (needsDatabase) {
      say('starting PostgreSQL');
      const logFile = join(folder, 'postgres.log');
      const start = startEmbeddedPostgres({
        folder: join(folder, 'postgres'),
        password: keys.databasePassword,
        logFile,
      });
      starts.push(
        start.then((postgres) => {
          children.unshift(['the embedded PostgreSQL', postgres]);
          filled.DATABASE_URL = postgres.url;
        }),
      );
    }
    if (needsSandbox) {
      say('starting the sandbox in the place of the Solar Curtailment Service');
      starts.push(
        startSandbox(filled, folder).then(({ child, environment }) => {
          children.push(['the sandbox', child]);
          Object.assign(filled, environment);
        }),
      );
    } else if (!wanted.sandbox) {
      for (const name of SANDBOX_VARIABLES)
        filled[name] ??= name === 'SCS_BASE_URL' ? 'http://127.0.0.1:9' : 'none';
    }
    const results = await Promise.allSettled(starts);
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
    await lock?.recordChildren(children.map(([, child]) => child.pid));
  } catch (error) {
    await stop();
    throw error;
  }
  const failures = children.map(async ([name, child]) => {
    const wasAsked = await child.exited;
    return wasAsked ? new Promise<string>(() => {}) : name;
  });
  return {
    source: filled,
    adminKeyIsGenerated: source.ADMIN_API_KEY === undefined,
    failed: Promise.race([...failures, new Promise<string>(() => {})]),
    stop,
  };
}
