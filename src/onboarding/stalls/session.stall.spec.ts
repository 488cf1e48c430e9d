import { describe, expect, it } from '@jest/globals';
import { textOf } from '../../stalls/cause.rules.js';
import { later } from '../../stalls/look.rules.js';
import { SESSION_CAUSES } from './session.causes.rules.js';
import { stallOfSession, type SessionFacts } from './session.stall.rules.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = new Date('2026-06-01T12:00:00.000Z');
const ago = (ms: number) => later(NOW, -ms);
const THRESHOLDS = { ownerMs: 4 * HOUR_MS, installationMs: 72 * HOUR_MS };

const FRESH: SessionFacts = {
  state: 'awaiting_owner',
  rule: 'as_started',
  stateChangedAt: ago(HOUR_MS),
  recordedAt: ago(HOUR_MS),
  expiresAt: later(NOW, 23 * HOUR_MS),
  finished: false,
  active: true,
  expired: null,
  closedAt: null,
  closeReason: null,
  isSuperseded: false,
  isWatched: true,
  checkedAt: ago(60_000),
  nextCheckAt: later(NOW, 60_000),
  failures: 0,
  failingSince: ago(60_000),
  notFound: 0,
  notFoundSince: null,
  areOthersServed: true,
  flappingSince: null,
  changesClearAt: null,
  listed: 0,
  missing: 0,
  missingSince: null,
  p95Seconds: null,
  known: null,
};
const lookAt = (facts: Partial<SessionFacts>) => stallOfSession({ ...FRESH, ...facts }, THRESHOLDS, NOW);
const old = (hours: number) => ({ recordedAt: ago(hours * HOUR_MS), stateChangedAt: ago(hours * HOUR_MS) });
const failing = (failures: number, minutes: number) => ({ failures, failingSince: ago(minutes * 60_000) });
const refused = { notFound: 2, notFoundSince: ago(60_000) };
const odd = { state: 'unrecognised', rule: 'undescribed_flags', stateChangedAt: ago(HOUR_MS) } as const;
const installing = { state: 'awaiting_installation', ...old(80) } as const;
const GONE = {
  state: 'online',
  closedAt: ago(DAY_MS),
  closeReason: 'settled',
  missing: 2,
  missingSince: ago(60_000),
} as const;

describe('a session is stalled', () => {
  it.each<[string, Partial<SessionFacts>, string | null]>([
    ['not at first', {}, null],
    ['if the owner has not finished for hours', old(5), 'started_not_completed'],
    ['not if the owner has time', old(3), null],
    ['if little of its lifetime is left', { ...old(22), expiresAt: later(NOW, HOUR_MS) }, 'expiring_soon'],
    [
      'if its date has passed, and it was read since',
      { ...old(25), expiresAt: ago(HOUR_MS) },
      'expiry_ignored',
    ],
    [
      'as before, if its date has passed, and it was not read since',
      { ...old(25), expiresAt: ago(HOUR_MS), checkedAt: ago(2 * HOUR_MS) },
      'expiring_soon',
    ],
    ['not by a date that had passed at the start', { expiresAt: ago(2 * HOUR_MS) }, null],
    ['if the installation is late', installing, 'completed_not_online'],
    ['not if its brand needs longer', { ...installing, p95Seconds: 90 * 3_600, known: 30 }, null],
    [
      'if its brand is faster',
      { ...installing, ...old(2), p95Seconds: 3_600, known: 30 },
      'completed_not_online',
    ],
    ['not by one failed read', failing(1, 600), null],
    ['not by two failed reads', failing(2, 600), null],
    ['by three failed reads over an hour', failing(3, 61), 'remote_unreachable'],
    ['not by three failed reads within minutes', failing(3, 10), null],
    ['not while nobody is served', { ...failing(9, 600), areOthersServed: false }, null],
    ['by two refusals, whether others are served or not', { ...refused, areOthersServed: false }, 'refused'],
    ['not by one refusal', { ...refused, notFound: 1 }, null],
    ['by refusals rather than by failures', { ...refused, ...failing(5, 120) }, 'refused'],
    ['by odd flags', odd, 'unrecognised'],
    ['not by odd flags of a moment', { ...odd, stateChangedAt: ago(60_000) }, null],
    ['by odd flags rather than by failures', { ...odd, ...failing(3, 120) }, 'unrecognised'],
    ['by too many inverters', { ...odd, rule: 'too_many_inverters' }, 'too_many_inverters'],
    ['if it is lost', { state: 'lost' }, 'lost'],
    ['if it was closed as lost', { state: 'lost', closedAt: ago(DAY_MS), closeReason: 'lost' }, 'lost'],
    [
      'not for ever if it was closed as lost',
      { state: 'lost', closedAt: ago(31 * DAY_MS), closeReason: 'lost' },
      null,
    ],
    ['not if it was closed otherwise', { ...old(99), closedAt: ago(DAY_MS), closeReason: 'settled' }, null],
    ['if it is settled and its inverters are missing', GONE, 'all_inverters_missing'],
    ['if it is settled and an inverter is missing', { ...GONE, listed: 1 }, 'some_inverters_missing'],
    [
      'not by failed or refused reads once it is settled',
      { ...GONE, missingSince: null, ...failing(9, 600), ...refused },
      null,
    ],
    ['not if it is settled and no longer watched', { ...GONE, isWatched: false }, null],
    ['not if it is settled and superseded', { ...GONE, isSuperseded: true }, null],
    [
      'not if it was closed late and its inverters are missing',
      { ...GONE, closeReason: 'late_window_over' },
      null,
    ],
    ['not if it is superseded', { ...old(99), isSuperseded: true, state: 'lost' }, null],
    ['if nobody reads it', { isWatched: false }, 'unwatched'],
    ['if it flaps', { flappingSince: ago(60_000), changesClearAt: later(NOW, 60_000) }, 'flapping'],
    ['not once it is calm', { flappingSince: ago(HOUR_MS), changesClearAt: ago(60_000) }, null],
    [
      'if all inverters are missing',
      { state: 'online', missing: 2, missingSince: ago(1) },
      'all_inverters_missing',
    ],
    [
      'if some are',
      { state: 'online', missing: 2, listed: 1, missingSince: ago(1) },
      'some_inverters_missing',
    ],
    ['not if it is online', { state: 'online', listed: 2, ...old(99) }, null],
    ['not if it is expired', { state: 'expired', ...old(99) }, null],
  ])('%s', (_, facts, cause) => {
    expect(lookAt(facts).stall?.cause ?? null).toBe(cause);
  });

  it.each<[string, (lateMs: number) => Partial<SessionFacts>, other?: string]>([
    ['started_not_completed', (ms) => ({ recordedAt: ago(4 * HOUR_MS + ms) })],
    ['completed_not_online', (ms) => ({ ...installing, stateChangedAt: ago(72 * HOUR_MS + ms) })],
    [
      'completed_not_online',
      (ms) => ({ ...installing, stateChangedAt: ago(60_000 + ms), p95Seconds: 60, known: 20 }),
    ],
    [
      'expiring_soon',
      (ms) => ({ recordedAt: ago(9 * HOUR_MS), expiresAt: later(NOW, HOUR_MS - 10 * ms) }),
      'started_not_completed',
    ],
    [
      'expiring_soon',
      (ms) => ({ recordedAt: ago(99 * DAY_MS), expiresAt: later(NOW, 7 * DAY_MS - ms) }),
      'started_not_completed',
    ],
    ['expiry_ignored', (ms) => ({ ...installing, ...old(1), expiresAt: later(FRESH.checkedAt, -ms) })],
    ['unrecognised', (ms) => ({ ...odd, stateChangedAt: ago(15 * 60_000 + ms) })],
    [
      'too_many_inverters',
      (ms) => ({ ...odd, rule: 'too_many_inverters', stateChangedAt: ago(15 * 60_000 + ms) }),
    ],
    ['remote_unreachable', (ms) => ({ ...failing(3, 60), failingSince: ago(HOUR_MS + ms) })],
    ['flapping', (ms) => ({ flappingSince: ago(1), changesClearAt: later(NOW, 1 + ms) })],
    ['lost', (ms) => ({ state: 'lost', closedAt: ago(30 * DAY_MS - 1 - ms), closeReason: 'lost' })],
  ])('by %s at its threshold, and not on its other side (%#)', (cause, factsOf, ...[other]) => {
    const isExclusive = cause === 'expiry_ignored';
    expect(lookAt(factsOf(isExclusive ? 1 : 0)).stall?.cause).toBe(cause);
    expect(lookAt(factsOf(isExclusive ? 0 : -1)).stall?.cause).toBe(other);
  });

  it.each<[string, Partial<SessionFacts>, Date | null]>([
    ['when the owner has had its time', {}, later(NOW, 3 * HOUR_MS)],
    ['when it soon expires', old(5), later(NOW, 23 * HOUR_MS - 28 * 360_000)],
    ['never, if only a change matters', { state: 'online', listed: 1 }, null],
    ['never, if it is over', { closedAt: NOW, closeReason: 'settled' }, null],
    [
      'when it no longer counts',
      { state: 'lost', closedAt: ago(DAY_MS), closeReason: 'lost' },
      later(NOW, 29 * DAY_MS),
    ],
    ['when it is calm', { flappingSince: ago(1), changesClearAt: later(NOW, 5) }, later(NOW, 5)],
    [
      'within a day, while the usual wait of its brand may change',
      { ...installing, p95Seconds: 99 * 3_600 },
      later(NOW, 19 * HOUR_MS),
    ],
    [
      'within a day at most',
      { ...installing, p95Seconds: 999 * 3_600, expiresAt: later(NOW, 99 * HOUR_MS) },
      later(NOW, DAY_MS),
    ],
    [
      'after the first read past its date',
      { ...installing, expiresAt: later(NOW, HOUR_MS), nextCheckAt: later(NOW, 2 * HOUR_MS) },
      later(NOW, 2 * HOUR_MS + 10_000),
    ],
    [
      'after its date, if a read is due before',
      { ...installing, expiresAt: later(NOW, HOUR_MS), nextCheckAt: null },
      later(NOW, HOUR_MS + 10_000),
    ],
    [
      'in a while, if the read past its date is late',
      { ...installing, expiresAt: ago(50_000), checkedAt: ago(60_000), nextCheckAt: ago(20_000) },
      later(NOW, 900_000),
    ],
    [
      'not for its date, once it was read since',
      { ...installing, expiresAt: ago(50_000), checkedAt: ago(40_000), nextCheckAt: ago(1) },
      later(NOW, DAY_MS),
    ],
    [
      'not for a date that had passed at the start',
      { ...installing, expiresAt: ago(80 * HOUR_MS), checkedAt: ago(81 * HOUR_MS) },
      later(NOW, DAY_MS),
    ],
    ['after an hour of failures', failing(3, 50), later(NOW, 600_000)],
    ['soon, while nobody is served', { ...failing(3, 90), areOthersServed: false }, later(NOW, 900_000)],
  ])('and is looked at again %s', (_, facts, at) => {
    expect(lookAt(facts).lookAgainAt).toEqual(at);
  });

  it.each<[string, Partial<SessionFacts>, Date, object]>([
    ['lost', { state: 'lost' }, ago(HOUR_MS), { isRefused: false, isClosed: false }],
    [
      'lost',
      { state: 'lost', rule: 'refused_on_every_path', closedAt: NOW, closeReason: 'lost' },
      ago(HOUR_MS),
      { isRefused: true, isClosed: true },
    ],
    ['unwatched', { isWatched: false }, ago(HOUR_MS), {}],
    ['refused', refused, ago(60_000), { reads: 2 }],
    ['too_many_inverters', { ...odd, rule: 'too_many_inverters' }, ago(HOUR_MS), { thresholdSeconds: 900 }],
    [
      'unrecognised',
      odd,
      ago(HOUR_MS),
      { finished: false, active: true, expired: null, thresholdSeconds: 900 },
    ],
    ['remote_unreachable', failing(4, 90), ago(90 * 60_000), { failures: 4, thresholdSeconds: 3_600 }],
    ['flapping', { flappingSince: ago(1), changesClearAt: later(NOW, 1) }, ago(1), {}],
    [
      'expiry_ignored',
      { ...old(25), expiresAt: ago(HOUR_MS) },
      ago(HOUR_MS),
      { expiresAt: ago(HOUR_MS).toISOString() },
    ],
    [
      'some_inverters_missing',
      { state: 'online', missing: 2, listed: 1, missingSince: ago(1) },
      ago(1),
      { missing: 2, listed: 1 },
    ],
    [
      'completed_not_online',
      installing,
      ago(80 * HOUR_MS),
      { thresholdSeconds: 72 * 3_600, thresholdFrom: 'configured', known: null },
    ],
    [
      'completed_not_online',
      { ...installing, p95Seconds: 3_600, known: 30 },
      ago(80 * HOUR_MS),
      { thresholdSeconds: 3_600, thresholdFrom: 'brand_p95', known: 30 },
    ],
    [
      'expiring_soon',
      { ...old(20), expiresAt: later(NOW, HOUR_MS) },
      later(NOW, HOUR_MS - 21 * (HOUR_MS / 10)),
      { expiresAt: later(NOW, HOUR_MS).toISOString() },
    ],
    ['started_not_completed', old(5), ago(5 * HOUR_MS), { thresholdSeconds: 4 * 3_600 }],
  ])('since the trouble began, with its evidence: %s', (cause, facts, since, evidence) => {
    expect(lookAt(facts).stall).toEqual({ cause, since, evidence });
  });

  it.each([
    ['lost', { isRefused: true }, '401 or 403'],
    ['lost', { isRefused: false }, '404 or 410'],
    ['refused', { reads: 3 }, 'The last 3 reads'],
    [
      'unrecognised',
      { finished: true, active: false, expired: null },
      'finished=true, active=false, expired=absent.',
    ],
    ['unrecognised', { finished: true, active: false, expired: true }, 'expired=true.'],
    ['remote_unreachable', { failures: 4 }, 'The last 4 reads'],
    ['expiry_ignored', { expiresAt: '2026-06-01' }, 'at 2026-06-01,'],
    ['some_inverters_missing', { missing: 2, listed: 1 }, '2 of its 3 inverters'],
    ['expiring_soon', { expiresAt: '2026-06-01' }, 'at 2026-06-01,'],
  ] as const)('and says why: %s %j', (cause, evidence, text) => {
    expect(textOf(SESSION_CAUSES[cause], evidence)).toContain(text);
  });

  it.each<[string, Partial<SessionFacts>]>([
    ['refusals without their time', { notFound: 2, notFoundSince: null }],
    ['failures without their time', { failures: 9, failingSince: null }],
    ['a start of flapping without its end', { flappingSince: ago(1), changesClearAt: null }],
    ['an end of flapping without its start', { flappingSince: null, changesClearAt: later(NOW, 1) }],
    ['inverters that are missing from an open session', { missing: 1, missingSince: ago(1) }],
  ])('but not by %s', (_, facts) => {
    expect(lookAt(facts).stall).toBeNull();
  });

  it('and starts another session of the same brand, whatever is open', () => {
    const [another] = SESSION_CAUSES.lost.remedies;
    expect(another!.body!({ id: 'session', brand: 'sunward' })).toEqual({ brand: 'sunward', reuse: false });
    expect(another!.body!({ id: 'session', brand: null })).toEqual({ reuse: false });
  });
});
