import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { StartsStore } from '../../../../src/onboarding/start/starts.store.js';
import { Database } from '../../../../src/platform/database/database.js';
import type { Answer, SessionAnswer, TestClient } from '../../../setup/client.js';
import type { SandboxLedger } from '../../../setup/sandbox/sandbox-control.js';
import { waitFor } from '../../../setup/wait-for.js';

interface StartsOfLocation {
  readonly gridLocationId: string;
  /** Number of sessions that the remote service started. */
  readonly effects: number;
  /** Number of orphans that our service has recorded. */
  readonly orphans: number;
}

export async function countStarts(
  database: Database,
  ledger: SandboxLedger,
  gridLocationIds: readonly string[],
): Promise<StartsOfLocation[]> {
  const rows = await database.query<{ gridLocationId: string; orphans: number }>(
    `SELECT grid_location_id AS "gridLocationId", sum(orphans)::int AS orphans FROM session_starts GROUP BY grid_location_id`,
  );
  return gridLocationIds.map((gridLocationId) => ({
    gridLocationId,
    effects: ledger.sessions.filter((session) => session.gridLocationId === gridLocationId).length,
    orphans: rows.find((row) => row.gridLocationId === gridLocationId)?.orphans ?? 0,
  }));
}

/** Retries a start after each 503, as an app does. Returns the first response that is not a 503. */
export function startAtLast(client: TestClient, gridLocationId: string): Promise<Answer<SessionAnswer>> {
  return waitFor(`a session of ${gridLocationId}`, async () => {
    const answer = await client.start(gridLocationId);
    return answer.status !== 503 && answer;
  });
}

/** The bug: no intent exists while the remote call is in flight. */
export function startWithoutIntent(app: NestFastifyApplication): void {
  const starts = app.get(StartsStore);
  const database = app.get(Database);
  const begin = starts.begin.bind(starts);
  const record = starts.record.bind(starts);
  starts.begin = async (wanted) => {
    const begun = await begin(wanted);
    if (begun.kind === 'begun')
      await database.query('DELETE FROM session_starts WHERE id = $1', [begun.start.id]);
    return begun;
  };
  starts.record = async (_start, started, wanted) => {
    const begun = await begin({ ...wanted, reuse: false });
    return begun.kind === 'begun' ? record(begun.start, started, wanted) : { kind: 'lease_lost' };
  };
}
