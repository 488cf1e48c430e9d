import { Database } from '../../../src/platform/database/database.js';
import { TestClient } from '../../setup/client.js';
import { ADMIN_KEY } from '../../setup/test-environment.js';
import { type TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import type { CrashStep } from './crash-points.js';
import { gatePolling, type PollingGate } from './polling-gate.js';
import { startBeside, startReplicas, type Replicas } from './replicas.js';
import { seedSessions } from './seeded-sessions.js';
import { findContradictions, findUntrue, type Findings } from './evidence/session-oracle.js';

/** The initial concurrency limit of a replica. */
export const AT_ONCE = 8;

const SETTINGS = {
  // Intervals so long that only the test makes sessions due.
  POLL_MIN_INTERVAL_MS: 60_000,
  POLL_MAX_INTERVAL_MS: 600_000,
  // Limits so long that no call times out on a busy machine, and that only the test makes leases expire.
  SCS_TIMEOUT_MS: 30_000,
  POLL_LEASE_MS: 60_000,
};

const CRASHING = 'test/faults/support/processes/crash-steps.process.ts';
const LATE_EVENTS = 'test/faults/support/processes/late-events.process.ts';

export interface Crash {
  readonly step: CrashStep;
  readonly file?: typeof CRASHING | typeof LATE_EVENTS;
}

export const withLateEvents = (crash: Crash): Crash => ({ ...crash, file: LATE_EVENTS });

/** Runs one replica that survives and others that are killed at a step. */
export class CrashingReplicas {
  private constructor(
    readonly replicas: Replicas,
    private readonly gate: PollingGate,
  ) {}

  static async start(): Promise<CrashingReplicas> {
    let gate: PollingGate | undefined;
    const replicas = await startReplicas({
      count: 1,
      environment: SETTINGS,
      prepare: (app) => (gate = gatePolling(app)),
    });
    return new CrashingReplicas(replicas, gate!);
  }

  get survivor(): TestClient {
    return this.replicas.clients[0]!;
  }

  get database(): Database {
    return this.replicas.apps[0]!.database;
  }

  /** Seeds sessions that only the test makes due. */
  async seed(count: number): Promise<string[]> {
    const ids = await seedSessions(this.database, this.replicas.sandbox.control, count);
    await this.database.query("UPDATE session_polls SET due_at = clock_timestamp() + interval '1 hour'");
    return ids;
  }

  /** Finishes the owners' web flows. Starts a replica that reads the sessions and is killed at the step. */
  async crashReading(crash: Crash, ids: readonly string[]): Promise<void> {
    const { control } = this.replicas.sandbox;
    for (const id of ids) await control.complete(id);
    const victim = await this.startVictim(crash, ids.length);
    const calls = ids.map((id) => loseResponse(victim, `/onboarding/pv/${id}/refresh`));
    await this.expectKilled(victim, calls);
  }

  /** Sends `posts` to a replica. The replica is killed once `standing` of these requests have reached the step. */
  async crashPosting(
    crash: Crash,
    posts: readonly (readonly [path: string, body?: object])[],
    standing = posts.length,
  ): Promise<void> {
    const victim = await this.startVictim(crash, standing);
    await this.expectKilled(
      victim,
      posts.map(([path, body]) => loseResponse(victim, path, body)),
    );
  }

  /** Waits until the survivor's records match the remote service, for 30 s at most. Returns the contradictions. */
  async converge(ids: readonly string[]): Promise<Findings> {
    const { control } = this.replicas.sandbox;
    await this.letLeasesRunOut();
    this.gate.open();
    await this.makeDue(ids);
    await waitFor(
      'the records say what the remote service says',
      async () => (await findUntrue(this.database, control)).length === 0,
    ).catch(() => {});
    this.gate.close();
    return findContradictions(this.database, control);
  }

  private async letLeasesRunOut(): Promise<void> {
    await this.database.query(`UPDATE poll_batches SET lease_until = clock_timestamp() - interval '1 ms'`);
    await this.database.query(
      "UPDATE session_starts SET lease_until = clock_timestamp() - interval '1 ms' WHERE status = 'sending'",
    );
  }

  async countEvents(): Promise<Record<string, number>> {
    const rows = await this.database.query<{ name: string; count: number }>(
      'SELECT name, count(*)::int AS count FROM domain_events GROUP BY name',
    );
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  }

  close(): Promise<void> {
    return this.replicas.close();
  }

  private startVictim({ step, file = CRASHING }: Crash, count: number): Promise<TestProcess> {
    const crash = { CRASH_STEP: step, CRASH_COUNT: count };
    return startBeside(this.replicas, file, { DATABASE_POOL_SIZE: 20, ROLE: 'api', ...SETTINGS, ...crash });
  }

  private makeDue(ids: readonly string[]): Promise<unknown> {
    return this.database.query(
      `UPDATE session_polls SET due_at = clock_timestamp() - interval '1 ms' WHERE session_id = ANY($1::uuid[])`,
      [ids],
    );
  }

  private async expectKilled(victim: TestProcess, calls: readonly Promise<void>[]): Promise<void> {
    const killed = victim.exited.then(({ signal }) => {
      if (signal !== 'SIGKILL') throw new Error(`the replica was not killed at its step:\n${victim.logs()}`);
    });
    try {
      await Promise.all([killed, ...calls]);
    } finally {
      await victim.stop('SIGKILL');
    }
  }
}

/** Sends a call to the victim. Throws if the victim responds before it is killed. */
async function loseResponse(victim: TestProcess, path: string, body?: object): Promise<void> {
  const response = await new TestClient(victim.url, ADMIN_KEY).call('POST', path, body).catch(() => null);
  if (response !== null) throw new Error(`${path} responded ${response.status}`);
}
