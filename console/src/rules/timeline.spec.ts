import { describe, expect, it } from '@jest/globals';
import type { TimelineEntry } from '../api/client.js';
import { layOut, receivedBy, rowsOf, segmentsOf } from './timeline.js';

const at = (minute: number) => `2026-11-26T12:${String(minute).padStart(2, '0')}:00.000Z`;
const entry = (
  minute: number,
  kind: TimelineEntry['kind'],
  details: Record<string, unknown> = {},
): TimelineEntry => ({ object: 'timeline_entry', at: at(minute), kind, summary: kind, details });

const ENTRIES = [
  entry(0, 'start', { startId: 's' }),
  entry(0, 'observation', { observationId: 1 }),
  entry(0, 'transition', {
    toState: 'awaiting_owner',
    basis: 'observed',
    rule: 'as_started',
    observationId: 1,
  }),
  entry(10, 'observation', { observationId: 2 }),
  entry(10, 'transition', {
    toState: 'awaiting_installation',
    basis: 'inferred',
    rule: 'inactive_unfinished',
    observationId: 2,
  }),
  entry(10, 'event', { eventId: 'e1', name: 'session.awaiting_installation' }),
  entry(20, 'observation', { observationId: 3 }),
  entry(30, 'transition', { toState: 'lost', basis: 'observed', rule: 'refused', observationId: null }),
];

it.each([
  [null, 'its deliveries are not shown'],
  [{ items: [], isWhole: false }, 'its deliveries are not shown'],
  [{ items: [], isWhole: true }, 'no endpoint takes it'],
  [{ items: [{ eventId: 'other', status: 'failed' } as const], isWhole: true }, 'no endpoint takes it'],
  [
    { items: [{ eventId: 'e', status: 'delivered' } as const], isWhole: false },
    'received by 1 of 1 endpoint',
  ],
  [
    { items: (['delivered', 'pending'] as const).map((status) => ({ eventId: 'e', status })), isWhole: true },
    'received by 1 of 2 endpoints; 1 not yet',
  ],
])('an event with the deliveries %j is %s', (known, words) => expect(receivedBy('e', known)).toBe(words));

describe('the timeline of a session', () => {
  it('shows the states one after the other, the last until now', () => {
    const segments = segmentsOf(ENTRIES, new Date(at(45)));
    expect(segments.map(({ state, isInferred, from, to }) => [state, isInferred, from, to])).toEqual([
      ['awaiting_owner', false, new Date(at(0)), new Date(at(10))],
      ['awaiting_installation', true, new Date(at(10)), new Date(at(30))],
      ['lost', false, new Date(at(30)), new Date(at(45))],
    ]);
  });

  it('ends when the session is closed', () => {
    const closed = [...ENTRIES, entry(40, 'closed')];
    expect(segmentsOf(closed, new Date(at(59))).at(-1)!.to).toEqual(new Date(at(40)));
    const superseded = [...ENTRIES, entry(35, 'superseded'), entry(40, 'closed')];
    expect(segmentsOf(superseded, new Date(at(59))).at(-1)!.to).toEqual(new Date(at(35)));
    const before = [entry(20, 'closed'), ...ENTRIES];
    expect(segmentsOf(before, new Date(at(59))).at(-1)!.to).toEqual(new Date(at(30)));
  });

  it('shows each response beside what was made of it, by which rule', () => {
    const rows = rowsOf(ENTRIES);
    expect(rows.map(({ kind, made }) => [kind, made?.state, made?.rule])).toEqual([
      ['start', undefined, undefined],
      ['observation', 'awaiting_owner', 'as_started'],
      ['observation', 'awaiting_installation', 'inactive_unfinished'],
      ['event', undefined, undefined],
      ['observation', undefined, undefined],
      ['transition', 'lost', 'refused'],
    ]);
    expect(rows[3]!.eventId).toBe('e1');
  });

  it('says what it does not know of a transition', () => {
    expect(rowsOf([entry(0, 'transition', { toState: true })])[0]).toMatchObject({
      made: { state: 'unknown', isInferred: false, rule: '' },
      eventId: null,
    });
  });

  it('shows a transition alone if its response is not listed', () => {
    const details = { toState: 'online', observationId: 9 };
    expect(rowsOf([entry(0, 'transition', details), entry(1, 'observation', { observationId: 8 })])).toEqual([
      expect.objectContaining({ kind: 'transition', at: at(0), summary: 'First state' }),
      expect.objectContaining({ kind: 'observation', made: null }),
    ]);
  });

  it('shares the width among states of no length', () => {
    const none = segmentsOf([entry(5, 'transition'), entry(5, 'transition')], new Date(at(5)));
    expect(layOut(none, 300, 20)).toEqual([
      [0, 150],
      [150, 150],
    ]);
  });

  it('leaves a short state wide enough to be seen', () => {
    const places = layOut(segmentsOf(ENTRIES, new Date(at(30))), 300, 20);
    expect(places).toEqual([
      [0, 100],
      [100, 180],
      [280, 20],
    ]);
  });
});

it('tells in words what happened', () => {
  const told = (kind: TimelineEntry['kind'], details: Record<string, unknown>) =>
    rowsOf([entry(0, kind, details)]).map(({ summary }) => summary);
  expect([
    ...told('start', { attempts: 1, orphans: 0 }),
    ...told('start', { attempts: 3, orphans: 1 }),
    ...told('observation', {
      source: 'start',
      finished: 'false',
      active: true,
      expired: null,
      inverters: null,
    }),
    ...told('observation', { source: 'read', finished: true, active: false, expired: false, inverters: '2' }),
    ...told('transition', { fromState: 'awaiting_owner', toState: 'online' }),
    ...told('closed', { closeReason: 'late_window_over' }),
    ...told('event', { name: 'session.online' }),
  ]).toEqual([
    'Start requested',
    'Start requested, sent 3 times; 1 response lost',
    'Started: finished no, active yes, expired not stated',
    'Read: finished yes, active no, expired no, 2 inverters',
    'No longer awaiting owner',
    'No longer watched: late window over',
    'Event session.online',
  ]);
});
