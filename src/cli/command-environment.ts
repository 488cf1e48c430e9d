import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { Database } from '../platform/database/database.js';
import { readFiles } from '../platform/env/environment-files.js';
import type { Environment } from '../platform/env/environment.js';
import type { EnvironmentSource } from '../platform/env/environment-names.js';
import { readEnvironment } from '../platform/env/read-environment.js';
import {
  readGeneratedKeys,
  SANDBOX_CREDENTIALS,
  startLocalServices,
  type LocalServices,
} from '../platform/local/local-services.js';
import { findRunningService } from '../platform/local/running-service.js';
import { Problem } from '../platform/problem/problem.js';
import { fail } from './print.js';

/** The actor in the audit log and in `created_by` for commands run in a shell on the server. */
export const ACTOR = 'cli';

export type ReadEnvironment = () => Promise<Environment> | Environment;

/** Reads a command's configuration. Outside production, missing values come from the running service or, if none runs, from local defaults. */
export class CommandEnvironment {
  private local: LocalServices | undefined;

  constructor(private readonly source: EnvironmentSource) {}

  async read(): Promise<Environment> {
    // A command never polls or runs jobs; only the service does.
    const own: EnvironmentSource = { ...readFiles(this.source), ROLE: 'api' };
    if (own.NODE_ENV === 'production') return readEnvironment(own);
    const folder = resolve('.data');
    const running = await findRunningService(folder);
    if (running === undefined) {
      this.local = await startLocalServices(own, folder, { sandbox: false }, () => {});
      return readEnvironment(this.local.source);
    }
    const keys = await readGeneratedKeys(folder);
    return readEnvironment({
      DATABASE_URL: running.databaseUrl,
      SCS_BASE_URL: running.remoteUrl,
      ...SANDBOX_CREDENTIALS,
      ADMIN_API_KEY: keys.adminApiKey,
      ENCRYPTION_KEYS: keys.encryptionKey,
      ...own,
    });
  }

  async stop(): Promise<void> {
    await this.local?.stop();
  }
}

/** Runs `work` with a database connection. Prints a Problem instead of throwing it. */
export async function withDatabase(
  readEnvironment: ReadEnvironment,
  work: (database: Database, environment: Environment) => Promise<void>,
): Promise<void> {
  const environment = await readEnvironment();
  const database = new Database(environment);
  try {
    await work(database, environment);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    fail(error.message);
  } finally {
    await database.onApplicationShutdown();
  }
}

export function readId(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw new InvalidArgumentError('It must be a UUID.');
  return text.toLowerCase();
}
