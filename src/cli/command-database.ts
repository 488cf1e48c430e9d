import { Database } from '../platform/database/database.js';
import type { Environment } from '../platform/env/environment.js';

/** The actor in the audit log and in `created_by` for commands run in a shell on the server. */
export const ACTOR = 'cli';

export type ReadEnvironment = () => Promise<Environment> | Environment;

/** Runs the work of a command on the database of the environment. */
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
