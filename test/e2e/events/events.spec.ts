import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formatSequence, type CloudEvent } from '../../../src/events/cloud-event.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { Database } from '../../../src/platform/database/database.js';
import { sessionEvent } from '../../db/events/fixture.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';

interface Feed {
  readonly items: CloudEvent[];
  readonly next: string;
}

let test: TestApp;
const session = randomUUID();

beforeAll(async () => {
  // No worker runs: the feed must not depend on a worker.
  test = await startTestApp({ ROLE: 'api', SCS_BASE_URL: 'http://127.0.0.1:9' });
  await test.app
    .get(Database)
    .transaction((tx) =>
      appendEvents(tx, [
        sessionEvent('session.started', session),
        sessionEvent('session.awaiting_installation', session),
        sessionEvent('session.online', session),
      ]),
    );
});
afterAll(() => test.close());

const get = (query: string, key = test.adminKey) =>
  fetch(`${test.url}/api/v1/events${query}`, { headers: { authorization: `Bearer ${key}` } });

const feed = async (query = ''): Promise<Feed> => (await (await get(query)).json()) as Feed;

describe('GET /api/v1/events', () => {
  it('returns CloudEvents, from the beginning', async () => {
    const { items, next } = await feed();
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
      subject: session,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      datacontenttype: 'application/json',
      sequence: formatSequence('3'),
      data: expect.objectContaining({ sessionId: session, state: 'online' }),
    });
  });

  it('leads from page to page, and from the end to the same position', async () => {
    const first = await feed('?limit=2');
    expect(first.items).toHaveLength(2);
    const second = await feed(`?limit=2&after=${first.next}`);
    expect(second.items.map(({ sequence }) => sequence)).toEqual([formatSequence('3')]);
    expect(await feed(`?after=${second.next}`)).toEqual({ items: [], next: second.next });
  });

  it.each(['session.online', 'pv.session.online.v1', 'pv.session.lost.v1, session.online'])(
    'returns only the types in %p, and skips the others',
    async (types) => {
      const { items, next } = await feed(`?types=${encodeURIComponent(types)}`);
      expect(items.map(({ type }) => type)).toEqual(['pv.session.online.v1']);
      expect(next).toBe(formatSequence('3'));
    },
  );
});
