import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { StartedSessionsStore } from '../../../src/onboarding/start/started-sessions.store.js';
import { StartsStore } from '../../../src/onboarding/start/starts.store.js';
import { Database } from '../../../src/platform/database/database.js';
import type { Answer, SessionAnswer, TestClient } from '../../setup/client.js';
import type { SandboxLedger } from '../../setup/sandbox-control.js';
import { waitFor } from '../../setup/wait-for.js';

/** What became of the starts of one location. */
export interface StartsOfLocation {
  readonly gridLocationId: string;
  /** How many sessions the remote service really started. */
  readonly effects: number;
  /** How many of them we know to be of no use. */
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

/** Asks as an app does that is told to come back later, until there is a session. */
export function startAtLast(client: TestClient, gridLocationId: string): Promise<Answer<SessionAnswer>> {
  return waitFor(
    `a session of ${gridLocationId}`,
    async () => {
      const answer = await client.start(gridLocationId);
      return answer.status !== 503 && answer;
    },
    30_000,
  );
}

/** The bug: the intent to start is there while nothing has been sent and after the answer, and not in between. */
export function startWithoutIntent(app: NestFastifyApplication): void {
  const starts = app.get(StartsStore);
  const database = app.get(Database);
  const begin = starts.begin.bind(starts);
  const sessions = app.get(StartedSessionsStore);
  const keep = sessions.keep.bind(sessions);
  starts.begin = async (wanted) => {
    const begun = await begin(wanted);
    if (begun.kind === 'begun')
      await database.query('DELETE FROM session_starts WHERE id = $1', [begun.start.id]);
    return begun;
  };
  sessions.keep = async (_start, started, wanted) => {
    const begun = await begin({ ...wanted, reuse: false });
    return begun.kind === 'begun' ? keep(begun.start, started, wanted) : null;
  };
}
