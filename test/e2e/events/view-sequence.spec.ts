import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient, type SessionAnswer } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';

const LOCK_SEQUENCING = `SELECT pg_advisory_xact_lock(hashtextextended('pv-onboarding/events.sequence', 0))`;

describe('the sequence of a session', () => {
  let service: TestApp;
  let client: TestClient;

  beforeAll(async () => {
    // No poller runs: only the test reads sessions.
    service = await startTestApp({ ROLE: 'api' });
    client = TestClient.of(service);
  });
  afterAll(() => service.close());

  /** Runs `work` while no event gets a sequence. */
  const withoutSequencing = <T>(work: () => Promise<T>): Promise<T> =>
    service.app.get(Database).transaction(async (tx) => {
      await tx.query(LOCK_SEQUENCING);
      return work();
    });
  const refresh = async (id: string) =>
    (await client.call<SessionAnswer>('POST', `/onboarding/pv/${id}/refresh`)).body;
  const eventsOf = async (id: string) => (await client.events()).filter(({ subject }) => subject === id);
  const list = async () =>
    (await client.call<{ items: SessionAnswer[] }>('GET', '/onboarding/pv')).body.items;

  it('is that of its last event, in the session and in the list', async () => {
    const [first, second] = [await client.startNew(), await client.startNew()];
    await service.sandbox!.control.online(first.id, { inverters: 2 });
    await refresh(first.id);
    for (const { id } of [first, second]) {
      const { sequence } = (await eventsOf(id)).at(-1)!;
      expect(sequence).toMatch(/^[0-9]{19}$/);
      expect(await client.session(id)).toMatchObject({ sequence });
      expect((await list()).find((session) => session.id === id)).toMatchObject({ sequence });
    }
  });

  it('is never that of an event which the session does not contain', async () => {
    const started = await withoutSequencing(() => client.startNew());
    expect(started.sequence).toBeNull();
    const [startEvent] = await eventsOf(started.id);
    expect(await client.session(started.id)).toMatchObject({ sequence: startEvent!.sequence });
    await service.sandbox!.control.online(started.id, { inverters: 1 });
    // The response contains the change, whose events have no sequence yet. So it says less than it contains.
    const online = await withoutSequencing(() => refresh(started.id));
    expect(online).toMatchObject({ state: 'online', sequence: startEvent!.sequence });
    const last = (await eventsOf(started.id)).at(-1)!;
    expect(last.sequence > startEvent!.sequence).toBe(true);
    expect(await client.session(started.id)).toMatchObject({ state: 'online', sequence: last.sequence });
  });

  it('orders responses and events: an event that is not later is contained', async () => {
    const RANK = ['awaiting_owner', 'awaiting_installation', 'online'];
    const { id } = await client.startNew();
    const responses: SessionAnswer[] = [];
    let isDone = false;
    const reading = (async () => {
      while (!isDone) responses.push(await client.session(id));
    })();
    await service.sandbox!.control.complete(id, { onlineAfterMs: null });
    await refresh(id);
    await service.sandbox!.control.online(id, { inverters: 1 });
    await refresh(id);
    const events = await eventsOf(id);
    responses.push(await client.session(id));
    isDone = true;
    await reading;
    const contained = (read: SessionAnswer, stated: string) =>
      events
        .filter(({ sequence }) => sequence <= stated)
        .every(({ data }) => RANK.indexOf(data.state as string) <= RANK.indexOf(read.state));
    expect(responses.filter((read) => !contained(read, read.sequence ?? ''))).toEqual([]);
    expect(new Set(responses.map(({ state }) => state)).has('awaiting_owner')).toBe(true);
    // Seeded bug: a sequence that is looked up after the session was read.
    const later = responses.at(-1)!.sequence!;
    expect(responses.filter((read) => !contained(read, later))).not.toEqual([]);
  });
});
