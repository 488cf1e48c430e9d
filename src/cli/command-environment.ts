import { resolve } from 'node:path';
import { Database } from '../platform/database/database.js';
import { readFiles } from '../platform/env/environment-files.js';
import type { Environment } from '../platform/env/environment.js';
import { ENVIRONMENT_NAMES, type EnvironmentSource } from '../platform/env/environment-names.js';
import { readEnvironment } from '../platform/env/read-environment.js';
import { readGeneratedKeys } from '../local/generated-keys.js';
import { SANDBOX_CREDENTIALS, startLocalServices } from '../local/local-services.js';
import type { LocalServices } from '../local/local-services.js';
import { findRunningService, FolderInUse } from '../local/running-service.js';
import { CommandError } from './command-error.js';

/** The actor in the audit log and in `created_by` for commands run in a shell on the server. */
export const ACTOR = 'cli';

export type ReadEnvironment = () => Promise<Environment> | Environment;

const isSet = (source: EnvironmentSource, name: string): boolean =>
  source[name] !== undefined || source[`${name}_FILE`] !== undefined;

/** Returns whether PV_ONBOARDING_URL names the service for which the commands are meant. */
export const namesService = (source: EnvironmentSource): boolean => isSet(source, 'PV_ONBOARDING_URL');

/** Reads a command's configuration. Outside production, the running service or, if none runs, local defaults supply missing values. */
export class CommandEnvironment {
  private local: LocalServices | undefined;

  constructor(private readonly source: EnvironmentSource) {}

  /** Throws CommandError if it is unclear whose database is meant, or if no database runs and the command may not start one. */
  async read({ mayStartDatabase = true } = {}): Promise<Environment> {
    const hasDatabase = isSet(this.source, 'DATABASE_URL');
    if (namesService(this.source) && !hasDatabase)
      throw new CommandError(
        'configuration',
        'PV_ONBOARDING_URL is set, but this command works on a database: set DATABASE_URL to the database of that service, or unset PV_ONBOARDING_URL.',
        2,
      );
    // ROLE is `api`, because a command never polls or delivers events; only the service does.
    const { variables, problems } = readFiles(this.source, ENVIRONMENT_NAMES);
    const own: EnvironmentSource = { ...variables, ROLE: 'api' };
    if (own.NODE_ENV === 'production') return readEnvironment(own, problems);
    const folder = resolve('.data');
    const running = await findRunningService(folder);
    const nowhere = 'No service runs in this folder: run `npm start` first, or set DATABASE_URL.';
    if (running === undefined && !hasDatabase && !mayStartDatabase)
      throw new CommandError('configuration', nowhere);
    if (running === undefined) {
      const read = { variables: own, problems };
      try {
        this.local = await startLocalServices(read, folder, { sandbox: false }, () => {});
      } catch (error) {
        if (!(error instanceof FolderInUse)) throw error;
        const busy = `Process ${error.pid} starts the service in this folder, or runs a command. Try again once it is ready.`;
        throw new CommandError('configuration', busy);
      }
      return readEnvironment(this.local.source);
    }
    const keys = await readGeneratedKeys(folder);
    const ofService = {
      DATABASE_URL: running.databaseUrl,
      SCS_BASE_URL: running.remoteUrl,
      ...SANDBOX_CREDENTIALS,
      ADMIN_API_KEY: keys.adminApiKey,
      ENCRYPTION_KEYS: keys.encryptionKey,
    };
    return readEnvironment({ ...ofService, ...own }, problems);
  }

  async stop(): Promise<void> {
    await this.local?.stop();
  }
}

export async function withDatabase(
  readEnvironment: ReadEnvironment,
  work: (database: Database, environment: Environment) => Promise<void>,
): Promise<void> {
  const environment = await readEnvironment();
  const database = new Database(environment);
  try {
    await work(database, environment);
  } finally {
    await database.onApplicationShutdown();
  }
}

/** Describes, for people, the database that a command changes. */
export function placeOf({ DATABASE_URL }: Environment): string {
  const { pathname, searchParams, host } = new URL(DATABASE_URL);
  return `In the database ${decodeURIComponent(pathname.slice(1))} on ${searchParams.get('host') ?? host}`;
}
