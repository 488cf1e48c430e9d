import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { formatSequence, type CloudEvent } from '../../../src/events/cloud-event.js';
import { SESSION_STATES } from '../../../src/events/event-schemas.rules.js';
import { EVENTS } from '../../../src/events/erase-events.sql.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { EventsStore } from '../../../src/feed/events.store.js';
import { FeedModule } from '../../../src/feed/feed.module.js';
import { OpenStreams } from '../../../src/feed/open-streams.service.js';
import { HeldRequests } from '../../../src/platform/http/held-requests.js';
import { sessionEvent } from '../../db/events/fixture.js';
import { listOf, sessionBody, type ReadAnswer } from '../../faults/support/network/scripted-remote.js';
import { startScriptedService, type ScriptedService } from '../../faults/support/network/scripted-service.js';
import { openStream, type StreamAnswer, type StreamOptions } from '../../setup/receivers/event-stream.js';
import { TestClient, type EventAnswer, type SessionAnswer } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

interface Feed {
  readonly items: CloudEvent[];
  readonly next: string;
}

type SessionEventName = Parameters<typeof sessionEvent>[0];

// No worker runs: the feed and the stream must not depend on a worker.
const service = useTestApp({ ROLE: 'api', SCS_BASE_URL: 'http://127.0.0.1:9' });
const client = TestClient.of(service);
const open: StreamAnswer[] = [];

/** The session of the first three events. */
const first = randomUUID();
beforeAll(() => appendTo(first, 'session.started', 'session.awaiting_installation', 'session.online'));
afterEach(async () => {
  jest.restoreAllMocks();
  for (const stream of open.splice(0)) stream.leave();
  await waitFor('the streams to be gone', () => service.app.get(HeldRequests).count('stream') === 0);
});

const session = randomUUID();
const append = (...names: SessionEventName[]) => appendTo(session, ...names);
const appendTo = (subject: string, ...names: SessionEventName[]) =>
  service.database.transaction((tx) =>
    appendEvents(
      tx,
      names.map((name) => sessionEvent(name, subject)),
    ),
  );

async function follow(query = '', options: Partial<StreamOptions> = {}): Promise<StreamAnswer> {
  const stream = await openStream(service.url, { key: service.adminKey, query, ...options });
  open.push(stream);
  return stream;
}
const referencesOf = ({ events }: StreamAnswer) =>
  events.map(({ event }) => (event.data as { tenantReference: string | null }).tenantReference);
const idsOf = ({ events }: StreamAnswer) => events.map(({ id }) => id);
const newest = () => service.app.select(FeedModule).get(EventsStore, { strict: true }).getNewest();
const waitForEvents = (stream: StreamAnswer, count: number) =>
  waitFor(`${count} events`, () => stream.events.length >= count);

const feed = async (query = ''): Promise<Feed> => (await client.call<Feed>('GET', `/events${query}`)).body;

const NOBODY = {
  userId: null,
  tenantReference: '',
  registrationIds: [],
  gridLocationIds: [],
  sessionIds: [],
  invitationIds: [],
  inverterIds: [],
  eans: [],
};

describe('GET /api/v1/events', () => {
  it('returns CloudEvents, from the beginning', async () => {
    const { items, next } = await feed('?limit=3');
    expect(items.map(({ type, sequence }) => [type, sequence])).toEqual([
      ['pv.session.started.v1', formatSequence('1')],
      ['pv.session.awaiting_installation.v1', formatSequence('2')],
      ['pv.session.online.v1', formatSequence('3')],
    ]);
    expect(next).toBe(formatSequence('3'));
    expect(items[2]).toEqual({
      specversion: '1.0',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      source: '/pv-onboarding',
      type: 'pv.session.online.v1',
      subject: first,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      datacontenttype: 'application/json',
      sequence: formatSequence('3'),
      data: expect.objectContaining({ sessionId: first, state: 'online' }),
    });
  });

  it('leads from page to page, and from the end to the same position', async () => {
    const page = await feed('?limit=2');
    expect(page.items).toHaveLength(2);
    const second = await feed(`?limit=2&after=${page.next}`);
    expect(second.items[0]!.sequence).toBe(formatSequence('3'));
    const end = formatSequence(await newest());
    expect(await feed(`?after=${end}`)).toEqual({ items: [], next: end });
  });

  it.each(['session.online', 'pv.session.online.v1', 'pv.session.lost.v1, session.online'])(
    'returns only the types in %p, and skips the others',
    async (types) => {
      const { items, next } = await feed(`?types=${encodeURIComponent(types)}`);
      const ofFirst = items.filter(({ subject }) => subject === first);
      expect(ofFirst.map(({ type }) => type)).toEqual(['pv.session.online.v1']);
      expect(next).toBe(formatSequence(await newest()));
    },
  );
});

describe('GET /api/v1/events/stream', () => {
  it('sends past events after a position, then new ones, each as a CloudEvent with its sequence as id', async () => {
    const from = Number(await newest());
    const stream = await follow('?after=0');
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    await waitForEvents(stream, from);
    const { items } = await feed('?after=0');
    expect(stream.events.map(({ event }) => event)).toEqual(items);
    expect(idsOf(stream)).toEqual(items.map(({ sequence }) => sequence));
    expect(stream.events.map(({ type }) => type)).toEqual(items.map(({ type }) => type));

    await append('session.lost');
    await waitForEvents(stream, from + 1);
    expect(stream.events.at(-1)).toMatchObject({
      id: formatSequence(String(from + 1)),
      type: 'pv.session.lost.v1',
    });
  });

  it('starts after the newest event by default, and sends at once the id from which to resume', async () => {
    const from = await newest();
    const stream = await follow();
    await waitFor('an id', () => stream.lastEventId() === formatSequence(from));
    expect(stream.text()).toMatch(/^: .+\nretry: [12]\d{3}\nid: \d+\n\n$/);
    await append('session.lost');
    await waitForEvents(stream, 1);
    expect(BigInt(stream.events[0]!.id)).toBe(BigInt(from) + 1n);
  });

  it('resumes after Last-Event-ID, which overrides `after`', async () => {
    const stream = await follow('?after=999999', { lastEventId: '1' });
    await waitForEvents(stream, 2);
    expect(idsOf(stream).slice(0, 2)).toEqual(['2', '3'].map(formatSequence));
  });

  it('takes an empty Last-Event-ID for none', async () => {
    const stream = await follow('?after=1', { lastEventId: '' });
    await waitForEvents(stream, 2);
    expect(idsOf(stream).slice(0, 2)).toEqual(['2', '3'].map(formatSequence));
  });

  it('sends only events of the requested types or session', async () => {
    const other = randomUUID();
    const ofSession = await follow(`?after=0&sessionId=${other.toUpperCase()}`);
    const ofType = await follow('?after=0&types=pv.session.expired.v1,session.awaiting_installation');
    await append('session.expired');
    await appendTo(other, 'session.started', 'session.lost');
    await waitForEvents(ofSession, 2);
    await waitForEvents(ofType, 2);
    expect(ofSession.events.map(({ event }) => event.subject)).toEqual([other, other]);
    expect(ofType.events.map(({ type }) => type)).toEqual([
      'pv.session.awaiting_installation.v1',
      'pv.session.expired.v1',
    ]);
  });

  it('reads an event once for all streams', async () => {
    const streams = await Promise.all(Array.from({ length: 20 }, () => follow()));
    await waitFor('all of them to begin', () => streams.every((stream) => stream.lastEventId()));
    const readPage = jest.spyOn(
      service.app.select(FeedModule).get(EventsStore, { strict: true }),
      'readPage',
    );
    for (let count = 1; count <= 5; count++) {
      await append('session.online');
      await Promise.all(streams.map((stream) => waitForEvents(stream, count)));
    }
    // The service reads once per notification and once per second, not once per stream.
    expect(readPage.mock.calls.length).toBeLessThan(5 * streams.length);
  });

  it('sends no event as it was before an erasure', async () => {
    const subject = randomUUID();
    const early = await follow();
    await waitFor('it to begin', () => early.lastEventId());
    const from = early.lastEventId()!;
    await appendTo(subject, 'session.online');
    await waitForEvents(early, 1);
    await service.database.transaction(async (tx) => {
      await EVENTS.erase(tx, { ...NOBODY, sessionIds: [subject] }, { at: new Date(), later: () => {} });
      await appendEvents(tx, [sessionEvent('session.lost', subject)]);
    });
    await waitForEvents(early, 2);
    const late = await follow(`?after=${from}`);
    await waitForEvents(late, 2);
    expect(referencesOf(early)).toEqual(['customer-1', 'customer-1']);
    expect(referencesOf(late)).toEqual([null, 'customer-1']);
  });

  it.each<[string, string | undefined, string]>([
    ['?after=abc', undefined, 'after'],
    ['?after=-1', undefined, 'after'],
    ['?after=', undefined, 'after'],
    ['?after=1&after=2', undefined, 'after'],
    ['?after=99999999', undefined, 'after'],
    ['?after=9999999999999999999', undefined, 'after'],
    ['?types=session.online,session.onlin', undefined, 'types'],
    ['?types=', undefined, 'types'],
    ['?sessionId=1', undefined, 'sessionId'],
    ['?limit=10', undefined, 'limit'],
    ['', 'abc', 'Last-Event-ID'],
    ['', '-1', 'Last-Event-ID'],
    ['', '1, 2', 'Last-Event-ID'],
    ['', '99999999', 'Last-Event-ID'],
    ['', '9999999999999999999', 'Last-Event-ID'],
    ['?after=1', '1.5', 'Last-Event-ID'],
  ])('refuses %p with Last-Event-ID %p, naming %s', async (query, lastEventId, field) => {
    const response = await follow(query, lastEventId === undefined ? {} : { lastEventId });
    expect(await response.ended).toBe('complete');
    expect(response.status).toBe(400);
    expect(JSON.parse(response.text())).toMatchObject({ code: 'invalid_request', errors: [{ field }] });
  });

  it('refuses a position before events that retention has deleted', async () => {
    await append('session.online');
    await newest();
    await service.database.query('DELETE FROM domain_events WHERE sequence <= 3');
    const refused = { status: 400, text: expect.stringContaining('continue after 0000000000000000003') };
    expect(await client.call('GET', '/events?after=1')).toMatchObject(refused);
    const stream = await follow('', { lastEventId: '2' });
    expect(await stream.ended).toBe('complete');
    expect({ status: stream.status, text: stream.text() }).toMatchObject(refused);
    for (const after of [0, 3])
      expect(await client.call('GET', `/events?after=${after}`)).toMatchObject({ status: 200 });
  });

  it('refuses streams beyond the limit, with a time to retry', async () => {
    const held = service.app.get(HeldRequests);
    jest.replaceProperty(held, 'ceiling', 2);
    jest.spyOn(held, 'share', 'get').mockReturnValue(2);
    await follow();
    await follow();
    const third = await follow();
    expect(await third.ended).toBe('complete');
    expect(third.status).toBe(503);
    expect(third.headers['retry-after']).toBe('5');
    expect(JSON.parse(third.text())).toMatchObject({ code: 'replica_busy' });
  });
});

type States = Readonly<Record<string, string>>;

const NAMES: readonly string[] = SESSION_STATES;

/** Mirrors sessions as a reader of the feed that uses only the types and subjects of events. */
function mirror(events: readonly EventAnswer[]): States {
  const mirrored: Record<string, string> = {};
  for (const { type, subject } of events) {
    const name = /^pv\.session\.(\w+)\.v1$/.exec(type)?.[1];
    if (name === 'started') mirrored[subject] = 'awaiting_owner';
    else if (name !== undefined && NAMES.includes(name)) mirrored[subject] = name;
  }
  return mirrored;
}

/** Responses that bring a session into each state. */
const RESPONSES: Readonly<Record<string, (sessionId: string) => ReadAnswer>> = {
  awaiting_owner: (id) => ({ body: sessionBody(id) }),
  awaiting_installation: (id) => ({ body: sessionBody(id, { updatedAt: '2026-11-20T11:00:00+01:00' }) }),
  expired: (id) => ({ body: sessionBody(id, { active: false, expired: true }) }),
  lost: () => ({ status: 404, body: '{}' }),
  unrecognised: (id) => ({ body: sessionBody(id, { active: false }) }),
  online: (id) => ({ body: sessionBody(id, { finished: true, active: false, inverters: listOf(1) }) }),
};

describe('a reader that mirrors sessions from the feed alone', () => {
  let service: ScriptedService;
  let events: readonly EventAnswer[];
  let listed: States;
  /** A session that is served between the reads of the others. Without it, a 404 may be about all sessions. */
  let served: string;

  beforeAll(async () => {
    // No poller runs: only the test reads sessions.
    service = await startScriptedService({ ROLE: 'api' });
    served = (await service.client.startNew()).id;
    for (const state of Object.keys(RESPONSES)) {
      await sessionWith(state);
      await sessionWith(state, 'awaiting_owner');
    }
    await sessionWith('lost', 'awaiting_owner', 'unrecognised', 'awaiting_owner', 'expired');
    const { client } = service;
    events = await client.events();
    const items = await client.list<SessionAnswer>('/onboarding/pv?limit=200');
    listed = Object.fromEntries(items.map(({ id, state }) => [id, state]));
  });
  afterAll(() => service.close());

  /** Starts a session and makes it pass through `states`. No transition leaves `online`. What must last has begun an hour earlier at each read. */
  async function sessionWith(...states: readonly string[]): Promise<void> {
    const { remote, client, database } = service;
    let { id, state } = await client.startNew();
    for (const next of states) {
      remote.script(id, () => RESPONSES[next]!(id));
      while (state !== next && state !== 'online') {
        await database.query(
          `UPDATE session_polls SET older_since = older_since - interval '1 hour', not_found_since = not_found_since - interval '1 hour' WHERE session_id = $1`,
          [id],
        );
        for (const each of [id, served]) await client.call('POST', `/onboarding/pv/${each}/refresh`);
        ({ id, state } = await client.session(id));
      }
    }
  }

  it('has all of them, with the state that the API returns', () => {
    expect(mirror(events)).toEqual(listed);
    expect(new Set(Object.values(listed))).toEqual(new Set(NAMES));
    const last = new Map(events.map(({ subject, data }) => [subject, data.state]));
    for (const [id, state] of Object.entries(listed)) expect(last.get(id)).toBe(state);
  });
});

// Comes last, because the service then takes no more streams.
it('a stream that begins while the process stops ends at once', async () => {
  service.app.get(OpenStreams).onModuleDestroy();
  expect(await (await follow()).ended).toBe('complete');
});
