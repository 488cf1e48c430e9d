import { describe, expect, it, jest } from '@jest/globals';
import {
  admit,
  type Breaker,
  checkFailed,
  checkPassed,
  CLOSED,
  follow,
  quiet,
  record,
  resume,
  TRIALS,
} from './breaker.rules.js';
import type { CallResult } from '../outcome.rules.js';
import { OperationGate } from './operation-gate.js';

const PROBE_MS = 1_000;
/** The random number with which a breaker stays open for exactly its nominal time. */
const NOMINAL = 0.5;

const after = (breaker: Breaker, results: readonly CallResult[], now = 0): Breaker =>
  results.reduce((state, result) => record(state, result, false, now, NOMINAL), breaker);
const times = (count: number, result: CallResult): CallResult[] => Array<CallResult>(count).fill(result);
const probe = (breaker: Breaker, now: number): Breaker => {
  const admission = admit(breaker, now, PROBE_MS);
  if (admission.kind !== 'pass') throw new Error(`not a probe: ${JSON.stringify(admission)}`);
  expect(admission.probe).toBe(true);
  return admission.next;
};

describe('breaker', () => {
  it.each<[string, CallResult[], Breaker['phase']]>([
    ['4 failures in a row', times(4, 'failed'), 'closed'],
    ['5 failures in a row', times(5, 'failed'), 'open'],
    ['5 failures with a success between', [...times(4, 'failed'), 'succeeded', 'failed'], 'closed'],
    ['refusals for overload, fewer than 20 calls', times(19, 'unavailable'), 'closed'],
    ['20 refusals for overload', times(20, 'unavailable'), 'open'],
    [
      '12 refusals for overload after 30 successes',
      [...times(30, 'succeeded'), ...times(12, 'unavailable')],
      'closed',
    ],
    [
      'failures of every second call of 20',
      Array.from({ length: 20 }, (_, i) => (i % 2 ? 'failed' : 'succeeded')),
      'open',
    ],
    [
      'failures of every third call of 60',
      Array.from({ length: 60 }, (_, i) => (i % 3 ? 'succeeded' : 'failed')),
      'closed',
    ],
    ['calls that we cancelled', times(50, 'unknown'), 'closed'],
    ['responses of something in front of the service', times(40, 'foreign'), 'closed'],
    [
      'such responses after failures of half',
      [...times(10, 'unavailable'), ...times(10, 'foreign')],
      'closed',
    ],
  ])('after %s', (_, results, phase) => expect(after(CLOSED, results).phase).toBe(phase));

  it('lets calls pass while closed, and is the same afterwards', () =>
    expect(admit(CLOSED, 5, PROBE_MS)).toEqual({ kind: 'pass', probe: false, next: CLOSED }));

  it.each([
    [0, 800],
    [0.25, 900],
  ])('opens for a second, more or less by chance (%d)', (random, openUntil) =>
    expect(record(after(CLOSED, times(4, 'failed')), 'failed', false, 0, random)).toMatchObject({
      openUntil,
    }),
  );

  it('counts failures within a period of 10 s', () => {
    const later = after(CLOSED, [...times(19, 'unavailable'), 'succeeded'], 1);
    expect(record(later, 'unavailable', false, 10_001, NOMINAL)).toMatchObject({ phase: 'closed', calls: 1 });
    const old = after(CLOSED, [...times(19, 'unavailable'), 'succeeded'], 0);
    expect(record(old, 'unavailable', false, 10_000, NOMINAL).phase).toBe('closed');
  });

  it('opens after 5 refusals in a row if they last for 2 s', () => {
    const refusedEvery = (ms: number, between: CallResult[] = []) =>
      [0, 1, 2, 3, 4].reduce((state, nth) => after(state, ['unavailable', ...between], nth * ms), CLOSED)
        .phase;
    expect(refusedEvery(500)).toBe('open');
    expect(refusedEvery(499)).toBe('closed');
    expect(refusedEvery(60_000)).toBe('open');
    expect(refusedEvery(60_000, ['succeeded'])).toBe('closed');
    expect(refusedEvery(60_000, ['limited'])).toBe('open');
    expect(after(CLOSED, times(5, 'unavailable'), 9_000).phase).toBe('closed');
    const foreign = after(CLOSED, times(4, 'foreign'), 9_000);
    expect(record(foreign, 'foreign', false, 11_000, NOMINAL).phase).toBe('open');
    const limitedEvery = (ms: number) =>
      Array.from({ length: 19 }).reduce<Breaker>(
        (state, _, nth) => after(state, ['limited'], nth * ms),
        CLOSED,
      );
    expect(limitedEvery(60_000).phase).toBe('closed');
  });

  it('counts the refusals of one requested wait as one', () => {
    const wave = (state: Breaker, at: number) =>
      after(
        quiet(record(state, 'unavailable', false, at, NOMINAL), at + 30_000),
        times(7, 'unavailable'),
        at + 2_000,
      );
    const waves = (count: number) =>
      Array.from({ length: count }).reduce<Breaker>((state, _, nth) => wave(state, nth * 30_000), CLOSED);
    expect([waves(4).phase, waves(5).phase]).toEqual(['closed', 'open']);
  });

  it('refuses calls while open, then admits one probe and refuses other calls', () => {
    const open = after(CLOSED, times(5, 'failed'));
    expect(admit(open, 999.5, PROBE_MS)).toEqual({
      kind: 'refused',
      reason: 'breaker_open',
      retryAfterMs: 1,
    });
    const halfOpen = probe(open, 1_000);
    expect(admit(halfOpen, 1_001, PROBE_MS)).toMatchObject({ kind: 'refused', reason: 'breaker_open' });
  });

  it('closes after a probe that succeeded', () => {
    const halfOpen = probe(after(CLOSED, times(5, 'failed')), 1_000);
    expect(record(halfOpen, 'succeeded', true, 1_100, NOMINAL)).toEqual(CLOSED);
  });

  it('opens twice as long after each probe that failed, up to 30 s', () => {
    let breaker = after(CLOSED, times(5, 'failed'));
    const openings: number[] = [];
    for (let now = 0, i = 0; i < 7; i++) {
      openings.push(breaker.openUntil - now);
      now = breaker.openUntil;
      breaker = record(probe(breaker, now), 'failed', true, now, NOMINAL);
    }
    expect(openings).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  it('admits another probe if the first was cancelled or has no result', () => {
    const halfOpen = probe(after(CLOSED, times(5, 'failed')), 1_000);
    const cancelled = record(halfOpen, 'unknown', true, 1_100, NOMINAL);
    expect(cancelled).toMatchObject({ phase: 'open', openUntil: 1_100, openings: 1 });
    probe(cancelled, 1_100);
    expect(admit(halfOpen, 1_000, 9_000)).toMatchObject({ retryAfterMs: PROBE_MS });
    const slow = admit(after(CLOSED, times(5, 'failed')), 1_000, 9_000);
    expect(slow.kind === 'pass' && admit(slow.next, 1_000, 9_000)).toMatchObject({ retryAfterMs: 9_000 });
    probe(halfOpen, 1_000 + PROBE_MS);
  });

  it('ignores the results of calls sent before it opened', () => {
    const open = after(CLOSED, times(5, 'failed'));
    expect(record(open, 'succeeded', false, 500, NOMINAL)).toBe(open);
    expect(record(open, 'succeeded', true, 500, NOMINAL)).toBe(open);
    const halfOpen = probe(open, 1_000);
    expect(record(halfOpen, 'failed', false, 1_100, NOMINAL)).toBe(halfOpen);
  });

  it('refuses every call until a Retry-After has passed, in every phase', () => {
    const quieted = quiet(quiet(CLOSED, 5_000), 3_000);
    expect(admit(quieted, 4_000.5, PROBE_MS)).toEqual({
      kind: 'refused',
      reason: 'wait_requested',
      retryAfterMs: 1_000,
    });
    const opened = after(quieted, times(5, 'failed'));
    expect(admit(opened, 4_000, PROBE_MS)).toMatchObject({ reason: 'wait_requested' });
    expect(record(probe(opened, 5_000), 'succeeded', true, 5_000, NOMINAL).quietUntil).toBe(5_000);
  });
});

describe('the breaker of registrations', () => {
  const trials = TRIALS.register_user!;
  const opened = times(5, 'unavailable').reduce(
    (state, result) => record(state, result, false, 0, NOMINAL, trials),
    CLOSED,
  );
  const check = (breaker: Breaker, now: number): Breaker => {
    const admission = admit(breaker, now, PROBE_MS, trials);
    if (admission.kind !== 'check') throw new Error(JSON.stringify(admission));
    return admission.next;
  };
  const tried = (breaker: Breaker, now: number): Breaker => {
    const admission = admit(checkPassed(check(breaker, now), now, PROBE_MS), now, PROBE_MS, trials);
    if (admission.kind !== 'pass') throw new Error(JSON.stringify(admission));
    return admission.next;
  };
  const refusal = (breaker: Breaker, now: number) => admit(breaker, now, PROBE_MS, trials);

  it('opens after 5 responses with 503', () => {
    const four = times(4, 'unavailable').reduce(
      (state, result) => record(state, result, false, 0, NOMINAL, trials),
      CLOSED,
    );
    expect(four.phase).toBe('closed');
    const fifth = record(four, 'unavailable', false, 0, NOMINAL, trials);
    expect(fifth).toMatchObject({ phase: 'open', openUntil: 1_000, triedAt: 0 });
    expect(fifth).toEqual(opened);
  });

  it.each(['limited', 'foreign'] as const)(
    'counts no failed trial if the call was refused unread: %s',
    (result) =>
      expect(record(tried(opened, 1_000), result, true, 1_000, NOMINAL, trials)).toMatchObject({
        phase: 'open',
        openUntil: 3_000,
        openings: 2,
        trials: 0,
      }),
  );

  it('waits as long as a failed check says, without counting it', () => {
    const failed = checkFailed(check(opened, 1_000), 1_000, NOMINAL, 700);
    expect(failed).toMatchObject({ phase: 'open', openUntil: 1_700, openings: 1 });
  });

  it('is the same after the result of a check that has ended already', () => {
    for (const ended of [CLOSED, opened]) {
      expect(checkPassed(ended, 1_000, PROBE_MS)).toBe(ended);
      expect(checkFailed(ended, 1_000, NOMINAL)).toBe(ended);
    }
    expect(resume(CLOSED, 1_000)).toBe(CLOSED);
  });

  it.each([
    ['closed', CLOSED, 3_000, 0, { openUntil: 3_500, triedAt: 500 }],
    ['closed, and the other is due', CLOSED, 0, 0, { openUntil: 500, triedAt: 500 }],
    ['open, and the other has failed oftener', opened, 0, 1, { openUntil: 1_000, triedAt: 500, trials: 1 }],
    ['open, and the other has not failed oftener', opened, 9_000, 0, { openUntil: 9_500, triedAt: 0 }],
  ] as const)('follows that of another replica while it is %s', (_, own, ms, failed, expected) =>
    expect(follow(own, ms, failed, 500)).toMatchObject({ phase: 'open', ...expected }),
  );

  it('is checked before a call, and again after twice as long each time, up to 30 s', () => {
    const waits: number[] = [];
    let breaker = opened;
    for (let nth = 0; nth < 7; nth++) {
      const now = breaker.openUntil;
      breaker = checkFailed(check(breaker, now), now, NOMINAL);
      waits.push(breaker.openUntil - now);
    }
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(breaker.trials).toBe(0);
  });

  it('refuses calls during a check, for a second', () => {
    expect(refusal(check(opened, 1_000), 1_000)).toEqual({
      kind: 'refused',
      reason: 'breaker_open',
      retryAfterMs: 1_000,
    });
  });

  it('lets one call try after a check that passed, and closes if the call succeeds', () => {
    const halfOpen = tried(opened, 1_000);
    expect(refusal(halfOpen, 1_000)).toMatchObject({ kind: 'refused' });
    expect(record(halfOpen, 'succeeded', true, 1_100, NOMINAL, trials)).toEqual(CLOSED);
  });

  it('is checked anew if no call has tried in time', () => {
    const passed = checkPassed(check(opened, 1_000), 1_000, PROBE_MS);
    expect(refusal(passed, 1_000 + PROBE_MS)).toMatchObject({ kind: 'check' });
  });

  it('waits twice as long after each call that failed, up to 15 minutes', () => {
    const waits: number[] = [];
    let breaker = opened;
    for (let nth = 0; nth < 10; nth++) {
      const now = breaker.openUntil;
      breaker = record(tried(breaker, now), 'failed', true, now, NOMINAL, trials);
      waits.push((breaker.openUntil - now) / 1_000);
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
  });

  it('follows that of another replica, but does not end its own check or trial', () => {
    expect(refusal(follow(CLOSED, 3_000, 2, 0), 0)).toMatchObject({ retryAfterMs: 3_000 });
    expect(refusal(follow(CLOSED, -1, 2, 5_000), 5_000)).toMatchObject({ kind: 'check' });
    const checking = check(opened, 1_000);
    const passed = checkPassed(checking, 1_000, PROBE_MS);
    for (const own of [checking, passed, tried(opened, 1_000)])
      expect(follow(own, 9_000, 1, 1_000)).toBe(own);
    expect(resume(follow(opened, 9_000, 1, 500), 600)).toMatchObject({ openUntil: 600, trials: 1 });
  });
});

describe('a check that has failed', () => {
  const isTried = (readBefore: boolean, clockMs: number): boolean => {
    const [reads, starts] = [new OperationGate(PROBE_MS), new OperationGate(PROBE_MS, TRIALS.start_session)];
    const read = () =>
      reads.record({ sent: { kind: 'not_sent', reason: 'breaker_open' }, result: 'succeeded' }, false);
    if (readBefore) read();
    const elapsed = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 1);
    const date = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + clockMs);
    starts.follow(60_000, 1);
    elapsed.mockReturnValue(performance.now() + 1);
    if (!readBefore) read();
    elapsed.mockReturnValue(performance.now() + 1);
    const tried = starts.mayTryUnchecked(reads);
    date.mockRestore();
    elapsed.mockRestore();
    return tried;
  };

  it.each([-3_600_000, 0, 3_600_000])(
    'is followed by a call if a read has succeeded since the breaker opened, also if the clock is set by %i ms',
    (clockMs) => expect([isTried(true, clockMs), isTried(false, clockMs)]).toEqual([false, true]),
  );
});
