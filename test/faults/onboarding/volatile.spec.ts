import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SELECT_ONE } from '../../../src/onboarding/poll/polls.sql.js';
import { changeStatement } from '../support/changed-statement.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { sessionBody } from '../support/network/scripted-remote.js';
import { startScriptedService, type ScriptedService } from '../support/network/scripted-service.js';

const READS = isLong ? 1_000 : 100;
/** The service records at most 31 observations of a session within an hour: the start and 30 changes. */
const MOST_ROWS = 31;

let service: ScriptedService;
afterEach(() => service.close());

/** Starts a session in a service without a poller, so that only the test reads the session. */
const start = async (prepare?: (app: NestFastifyApplication) => void): Promise<string> => {
  service = await startScriptedService({ ROLE: 'api' }, prepare);
  return (await service.client.startNew()).id;
};

async function refresh(id: string, times = 1): Promise<void> {
  for (let nth = 0; nth < times; nth++)
    expect((await service.client.call('POST', `/onboarding/pv/${id}/refresh`)).status).toBe(200);
}

async function rowsOf(id: string) {
  const [row] = await service.database.query<{ observations: number; events: number; changedAt: Date }>(
    `SELECT (SELECT count(*)::int FROM session_observations WHERE session_id = $1) AS observations,
            (SELECT count(*)::int FROM domain_events WHERE subject = $1::text) AS events,
            (SELECT changed_at FROM onboarding_sessions WHERE id = $1) AS "changedAt"`,
    [id],
  );
  return row!;
}

describe('R66: volatile answers do not grow', () => {
  it('records one response of many that differ only in undocumented fields', async () => {
    const id = await start();
    const volatile = () => ({
      body: sessionBody(id, { serverTime: Date.now(), [`request_${randomUUID()}`]: 'x'.repeat(1_000) }),
    });
    service.remote.script(id, volatile);
    await refresh(id);
    const { changedAt } = await rowsOf(id);
    await refresh(id, READS);
    const rows = await rowsOf(id);
    promise('R66', { figure: `${rows.observations} rows for ${READS} volatile responses`, bound: '3' });
    expect(rows).toEqual({ observations: 2, events: 1, changedAt });
  });

  it('announces a limited number of flaps, then once that the session flaps, and records its later state', async () => {
    const id = await start();
    service.remote.script(id, (nth) => ({ body: sessionBody(id, nth % 2 === 0 ? {} : { active: false }) }));
    await refresh(id, READS);
    const rows = await rowsOf(id);
    promise('R66', {
      figure: `${rows.observations} rows and ${rows.events} events for ${READS} flaps`,
      bound: `${MOST_ROWS}, ${MOST_ROWS + 1}`,
    });
    expect(rows.observations).toBeLessThanOrEqual(MOST_ROWS);
    expect(rows.events).toBeLessThanOrEqual(MOST_ROWS + 1);
    const names = await service.client.eventsOf(id);
    expect(names.filter((name) => name === 'session.flapping')).toHaveLength(1);

    // Simulates an hour without changes.
    service.remote.script(id, () => ({ body: sessionBody(id, { active: false, expired: true }) }));
    await service.database.query(
      `UPDATE session_polls SET changes_clear_at = changes_clear_at - interval '1 hour'`,
    );
    await refresh(id);
    expect((await service.client.session(id)).state).toBe('expired');
  });

  itAtLength('turns red when the bytes decide what has changed', async () => {
    const id = await start((app) =>
      changeStatement(app, SELECT_ONE, "encode(p.facts_hash, 'hex')", 'NULL::text'),
    );
    service.remote.script(id, () => ({ body: sessionBody(id, { serverTime: randomUUID() }) }));
    await refresh(id, 10);
    expect((await rowsOf(id)).observations).toBeGreaterThan(3);
  });
});
