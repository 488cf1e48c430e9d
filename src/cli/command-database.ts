import { Database } from '../platform/database/database.js';
import type { Environment } from '../platform/env/environment.js';

/** How the audit log and `created_by` name whoever has a shell on the server. */
export const ACTOR = 'cli';

export type ReadEnvironment = () => Promise<Environment> | Environment;

/** Does the work of a command on the database that the environment names. */
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
