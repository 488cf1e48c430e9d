import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Environment } from '../../../src/platform/env/environment.js';
import { TestClient, type SessionAnswer } from '../../setup/client.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { createTestDatabase } from '../../setup/test-database.js';

export interface Replicas {
  readonly apps: readonly TestApp[];
  readonly clients: readonly TestClient[];
  readonly sandbox: TestSandbox;
  readonly databaseUrl: string;
  close(): Promise<void>;
}

export interface ReplicaOptions {
  readonly count: number;
  readonly environment?: Partial<Environment>;
  /** Runs before the replica of that number, counted from 0, starts: to put a mutant in place of a method or statement. */
  readonly prepare?: (app: NestFastifyApplication, replica: number) => void;
}

/** Several applications on one database and one sandbox. */
export async function startReplicas({ count, environment = {}, prepare }: ReplicaOptions): Promise<Replicas> {
  const database = await createTestDatabase();
  const sandbox = await startSandbox();
  const apps = await Promise.all(
    Array.from({ length: count }, (_, replica) =>
      startTestApp(
        { DATABASE_URL: database.url, ...sandbox.environment, LOG_LEVEL: 'error', ...environment },
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

/** Fewer than a new limiter lets through at once. */
const AT_ONCE = 6;

/** Runs `work` so many times, a few at once. */
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

/** Registers `count` users and starts a session for each. */
export const startSessions = (client: TestClient, count: number): Promise<SessionAnswer[]> =>
  repeat(count, () => client.startNew());
