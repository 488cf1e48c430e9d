import { afterEach, describe, expect, it } from '@jest/globals';
import { APPEND_EVENTS } from '../../../src/events/outbox.js';
import { changeStatement } from '../support/changed-statement.js';
import { watchLoop } from '../support/evidence/loop-watch.js';
import { inTime, itAtLength, measureUntil, promise } from '../support/promise.js';
import { listOf, sessionBody } from '../support/network/scripted-remote.js';
import { startScriptedService, type ScriptedService } from '../support/network/scripted-service.js';

const ONLINE = { finished: true, active: false };
/** The maximum number of inverters in a recognised response. */
const MOST = 1_000;

let service: ScriptedService;
afterEach(() => service.close());

async function bytesOf(sessionId: string): Promise<number> {
  const [row] = await service.database.query<{ bytes: number }>(
    `SELECT ((SELECT coalesce(sum(octet_length(body::text)), 0) FROM session_observations WHERE session_id = $1)
           + (SELECT coalesce(sum(pg_column_size(i.*)), 0) FROM inverters i WHERE session_id = $1)
           + (SELECT sum(octet_length(data::text)) FROM domain_events WHERE subject = $1::text))::int AS bytes`,
    [sessionId],
  );
  return row!.bytes;
}

async function readMany(inverters: number) {
  const { id } = await service.client.startNew();
  const before = await bytesOf(id);
  const body = sessionBody(id, { ...ONLINE, inverters: listOf(inverters) });
  service.remote.script(id, () => ({ body }));
  const { status } = await service.client.call('POST', `/onboarding/pv/${id}/refresh`);
  const session = await service.client.session(id);
  return { id, status, session, times: ((await bytesOf(id)) - before) / body.length };
}

async function readLists() {
  const loop = watchLoop();
  const accepted = [await readMany(10), await readMany(100), await readMany(MOST)];
  const refused = [
    await readMany(MOST + 1),
    await readMany(2_500),
    await readMany(4_500),
    await readMany(22_000),
  ];
  return { accepted, refused, blockedMs: loop.end() };
}

describe('R64: work is linear in the answer', () => {
  it('records each inverter of a long list once, and of a list that is too long only the response', async () => {
    service = await startScriptedService({ ROLE: 'api' });
    const { accepted, refused, blockedMs } = await measureUntil((read) => read.blockedMs < 150, readLists);
    expect(accepted.map(({ session }) => [session.state, session.inverters.length])).toEqual([
      ['online', 10],
      ['online', 100],
      ['online', MOST],
    ]);
    // For ten times as many inverters, the service writes no more per byte of the response.
    const [, some, most] = accepted;
    expect(most!.times).toBeLessThan(some!.times * 1.2);

    for (const { status, session } of refused)
      expect([status, session.state, session.inverters]).toEqual([200, 'unrecognised', []]);
    const times = Math.max(...refused.map((read) => read.times));
    promise('R64', {
      figure: `${times.toFixed(1)} × the response written for up to 22,000 inverters, event loop blocked for ${Math.round(blockedMs)} ms`,
      bound: '4, 150 ms',
    });
    expect(times).toBeLessThanOrEqual(4);
    expect(blockedMs).toBeLessThan(inTime(150));

    const events = (await service.client.events()).filter(({ subject }) => subject === refused[3]!.id);
    expect(events.at(-1)).toMatchObject({ data: { rule: 'too_many_inverters', inverters: [] } });
    expect(await service.client.eventsOf(accepted[2]!.id)).toHaveLength(MOST + 2);
  });

  itAtLength('does not delay other sessions, and accepts the list once it is short enough', async () => {
    service = await startScriptedService({});
    const many = await service.client.startNew();
    const other = await service.client.startNew();
    const tooMany = sessionBody(many.id, { ...ONLINE, inverters: listOf(22_000) });
    service.remote.script(many.id, () => ({ body: tooMany }));
    service.remote.script(other.id, () => ({
      body: sessionBody(other.id, { ...ONLINE, inverters: listOf(1) }),
    }));
    await service.client.untilState(many.id, 'unrecognised');
    await service.client.untilState(other.id, 'online');
    const few = sessionBody(many.id, { ...ONLINE, inverters: listOf(2) });
    service.remote.script(many.id, () => ({ body: few }));
    await service.client.untilState(many.id, 'online');
  });

  itAtLength('reads a response of any shape without blocking the event loop', async () => {
    service = await startScriptedService({ ROLE: 'api' });
    const fields = Array.from({ length: 90_000 }, (_, index) => `"f${index}":1`).join();
    const deep = Array.from({ length: 8_000 }, () => '['.repeat(61) + ']'.repeat(61)).join();
    const escaped = `"\\u0073tartUrl":"x","values":[${'0,'.repeat(45_000)}0]`;
    const readOdd = async () => {
      const loop = watchLoop();
      for (const [odd, expected] of [
        [fields, 503],
        [`"a":[${deep}]`, 503],
        [escaped, 200],
      ] as const) {
        const { id } = await service.client.startNew();
        service.remote.script(id, () => ({ body: sessionBody(id).replace(/}$/, `,${odd}}`) }));
        const { status } = await service.client.call('POST', `/onboarding/pv/${id}/refresh`);
        expect(status).toBe(expected);
        expect((await service.client.session(id)).state).toMatch(/^awaiting_/);
      }
      return loop.end();
    };
    expect(await measureUntil((ms) => ms < 150, readOdd)).toBeLessThan(150);
  });

  itAtLength('turns red when each event repeats the list', async () => {
    service = await startScriptedService({ ROLE: 'api' }, (app) =>
      changeStatement(
        app,
        APPEND_EVENTS,
        "item -> 'data'",
        // Adds the list to the metadata, where the event contract allows any field.
        `CASE WHEN item -> 'data' ? 'metadata' THEN jsonb_set(item -> 'data', '{metadata,inverters}',
           (SELECT coalesce(jsonb_agg(i.id), '[]') FROM inverters i WHERE i.session_id::text = item ->> 'subject'))
              ELSE item -> 'data' END`,
      ),
    );
    const [some, most] = [await readMany(100), await readMany(MOST)];
    expect(most.times).toBeGreaterThan(some.times * 1.2);
  });
});
