import { expect, it, jest } from '@jest/globals';
import type { EventSignal } from '../events/event-signal.service.js';
import type { SequencedEvent } from '../events/catalogue.rules.js';
import type { EventFilter, EventsStore } from './events.store.js';
import { WakeUp } from '../platform/async/wake-up.js';
import { Environment } from '../platform/env/environment.js';
import { EventPages } from './event-pages.service.js';

it('streams in step share their pages until the next signal, each with its filter', async () => {
  const time = new Date(0);
  const names = ['session.online', 'session.lost', 'session.online'];
  const all = names.map((name, nth) => ({ name, subject: `s${nth + 1}`, sequence: `${nth + 1}`, time }));
  const readPage = jest.fn<EventsStore['readPage']>(async (after) => {
    const events = all.slice(Number(after), Number(after) + 2);
    const next = events.at(-1)?.sequence ?? after;
    return { events: events as unknown as SequencedEvent[], last: '3', next };
  });
  const signal = new WakeUp();
  const store = { readPage } as unknown as EventsStore;
  const pages = new EventPages(store, signal as EventSignal, new Environment());
  const follow = async (filter: EventFilter) => {
    const seen: bigint[] = [];
    for (let position = 0n; position < 3n;) {
      const page = await pages.readAfter(position, filter);
      seen.push(...page.events.map(({ sequence }) => sequence));
      position = page.next;
    }
    return seen;
  };
  const filters: EventFilter[] = [{}, { types: ['session.online'] }, { sessionId: 's2' }];
  expect(await Promise.all(filters.map(follow))).toEqual([[1n, 2n, 3n], [1n, 3n], [2n]]);
  await pages.readAfter(3n, {});
  await pages.readAfter(3n, {});
  signal.signal();
  await pages.readAfter(3n, {});
  await pages.readAfter(1n, { sessionId: 's2' });
  const alone = ['1', 200, { sessionId: 's2' }];
  expect(readPage.mock.calls).toEqual([
    ...['0', '2', '3', '3'].map((after) => [after, 200, undefined]),
    alone,
  ]);
});
