import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { formatSequence } from '../../../src/events/cloud-event.js';
import { eraseEvents } from '../../../src/events/erase-events.sql.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { EventsStore } from '../../../src/events/feed/events.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { HeldRequests } from '../../../src/platform/http/held-requests.js';
import { sessionEvent } from '../../db/events/fixture.js';
import { openStream, type StreamAnswer, type StreamOptions } from '../../setup/receivers/event-stream.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

type SessionEventName = Parameters<typeof sessionEvent>[0];

let test: TestApp;
const open: StreamAnswer[] = [];

beforeAll(async () => {
  // No worker runs: the stream must not depend on a worker.
  test = await startTestApp({ ROLE: 'api', SCS_BASE_URL: 'http://127.0.0.1:9' });
  await append('session.started', 'session.awaiting_installation', 'session.online');
});
afterAll(() => test.close());
afterEach(async () => {
  jest.restoreAllMocks();
  for (const stream of open.splice(0)) stream.leave();
  await waitFor('the streams to be gone', () => test.app.get(HeldRequests).count('stream') === 0);
});

const session = randomUUID();
const append = (...names: SessionEventName[]) => appendTo(session, ...names);
const appendTo = (subject: string, ...names: SessionEventName[]) =>
  test.app.get(Database).transaction((tx) =>
    appendEvents(
      tx,
      names.map((name) => sessionEvent(name, subject)),
    ),
  );

async function follow(query = '', options: Partial<StreamOptions> = {}): Promise<StreamAnswer> {
  const stream = await openStream(test.url, { key: test.adminKey, query, ...options });
  open.push(stream);
  return stream;
}
const referencesOf = ({ events }: StreamAnswer) =>
  events.map(({ event }) => (event.data as { tenantReference: string | null }).tenantReference);
const idsOf = ({ events }: StreamAnswer) => events.map(({ id }) => id);
const newest = () => test.app.get(EventsStore).getNewest();
const waitForEvents = (stream: StreamAnswer, count: number) =>
  waitFor(`${count} events`, () => stream.events.length >= count);

describe('GET /api/v1/events/stream', () => {
  it('sends past events after a position, then new ones, each as a CloudEvent with its sequence as id', async () => {
    const stream = await follow('?after=0');
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    await waitForEvents(stream, 3);
    type Feed = { items: { sequence: string; type: string }[] };
    const { items } = (await TestClient.of(test).call<Feed>('GET', '/events?after=0')).body;
    expect(stream.events.map(({ event }) => event)).toEqual(items);
    expect(idsOf(stream)).toEqual(items.map(({ sequence }) => sequence));
    expect(stream.events.map(({ type }) => type)).toEqual(items.map(({ type }) => type));

    await append('session.lost');
    await waitForEvents(stream, 4);
    expect(stream.events[3]).toMatchObject({ id: formatSequence('4'), type: 'pv.session.lost.v1' });
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
    const readPage = jest.spyOn(test.app.get(EventsStore), 'readPage');
    for (let count = 1; count <= 5; count++) {
      await append('session.online');
      await Promise.all(streams.map((stream) => waitForEvents(stream, count)));
    }
    // The service reads once per notification and once per second, not once per stream.
    expect(readPage.mock.calls.length).toBeLessThan(20);
  });

  it('sends no event as it was before an erasure', async () => {
    const subject = randomUUID();
    const early = await follow();
    await waitFor('it to begin', () => early.lastEventId());
    const from = early.lastEventId()!;
    await appendTo(subject, 'session.online');
    await waitForEvents(early, 1);
    await test.app.get(Database).transaction(async (tx) => {
      await eraseEvents(tx, [], [subject]);
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
    ['?types=session.onlin', undefined, 'types'],
    ['?types=', undefined, 'types'],
    ['?sessionId=1', undefined, 'sessionId'],
    ['?limit=10', undefined, 'limit'],
    ['', 'abc', 'Last-Event-ID'],
    ['', '', 'Last-Event-ID'],
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

  it('refuses streams beyond the limit, with a time to retry', async () => {
    const held = test.app.get(HeldRequests);
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
