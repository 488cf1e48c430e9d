import { tmpdir } from 'node:os';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Database } from '../../../src/platform/database/database.js';
import type { Environment } from '../../../src/platform/env/environment.js';
import { TestClient, type SessionAnswer } from '../../setup/client.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { createTestDatabase } from '../../setup/database/test-database.js';
import { testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/processes/test-process.js';

export interface Replicas {
  readonly apps: readonly TestApp[];
  readonly clients: readonly TestClient[];
  readonly sandbox: TestSandbox;
  readonly databaseUrl: string;
  close(): Promise<void>;
}

export interface ReplicaOptions {
  readonly count: number;
  /** Variables, or a function that returns them for the URL of the created database. */
  readonly environment?: Partial<Environment> | ((databaseUrl: string) => Partial<Environment>);
  /** Runs before a replica starts, to mutate a method or statement. `replica` counts from 0. */
  readonly prepare?: (app: NestFastifyApplication, replica: number) => void;
}

export async function startReplicas({ count, environment = {}, prepare }: ReplicaOptions): Promise<Replicas> {
  const database = await createTestDatabase();
  const sandbox = await startSandbox();
  const own = typeof environment === 'function' ? environment(database.url) : environment;
  const apps = await Promise.all(
    Array.from({ length: count }, (_, replica) =>
      startTestApp(
        { DATABASE_URL: database.url, ...sandbox.environment, LOG_LEVEL: 'error', ...own },
        { prepare: (app) => prepare?.(app, replica) },
      ),
    ),
  );
  return {
    apps,
    clients: apps.map((app) => TestClient.of(app)),
    sandbox,
    databaseUrl: database.url,
    close: async () => {
      await Promise.all(apps.map((app) => app.close()));
      await sandbox.stop();
      await database.drop();
    },
  };
}

/**
 * Starts a process on the database and the sandbox of replicas. Its working folder is outside the repository, so that it does not overwrite
 * files there.
 */
export const startBeside = (
  { sandbox, databaseUrl }: Replicas,
  file: string,
  variables: Readonly<Record<string, string | number>>,
): Promise<TestProcess> => {
  const own = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, String(value)]));
  const environment = { ...testEnvironment(), ...sandbox.environment, DATABASE_URL: databaseUrl, ...own };
  return startTestProcess(file, environment, tmpdir());
};

/** The number of calls that `repeat` makes at once. It is below the initial concurrency limit of a replica. */
const AT_ONCE = 6;

export async function repeat<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let begun = 0;
  const workOn = async (): Promise<void> => {
    while (begun < times) {
      begun++;
      results.push(await work());
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, workOn));
  return results;
}

export const startSessions = (client: TestClient, count: number): Promise<SessionAnswer[]> =>
  repeat(count, () => client.startNew());

/** Ages the leases of endpoints: other workers claim the endpoints of a dead worker after 30 s. A live worker renews its lease every 7.5 s. */
export const letLeasesAge = (database: Database, seconds: number) =>
  database.query("UPDATE webhook_endpoints SET lease_until = lease_until - $1 * interval '1 s'", [seconds]);
