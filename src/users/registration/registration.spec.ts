import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { NotSentReason, Outcome } from '../../remote/outcome.rules.js';
import { DECIDABLE, PERSON_DECISIONS, planSettlement, REGISTRATION_STATUSES } from './registration.rules.js';
import type { RemoteUser } from '../remote/remote-user.rules.js';

const USER = { id: 'a user' } as RemoteUser;

const NOT_SENT_REASONS: Record<NotSentReason, true> = {
  unreachable: true,
  breaker_open: true,
  rate_limited: true,
  wait_requested: true,
  limiter_timeout: true,
  credentials_rejected: true,
  token_unavailable: true,
  stopping: true,
};
const notSentReasons = Object.keys(NOT_SENT_REASONS) as NotSentReason[];

describe('the outcome of a registering call', () => {
  it('registers a confirmed user', () => {
    expect(planSettlement({ kind: 'done', value: USER }, 1, 0)).toEqual({ status: 'registered', user: USER });
  });

  it("rejects what was refused, and keeps the service's words from the event", () => {
    expect(planSettlement({ kind: 'rejected', status: 422, detail: 'EAN unknown' }, 1, 0)).toEqual({
      status: 'rejected',
      lastError: 'the Solar Curtailment Service refused it with status 422: EAN unknown',
      reason: 'the Solar Curtailment Service refused it with status 422',
    });
  });

  it('says no more than the status where the refusal has no text', () => {
    const settlement = planSettlement({ kind: 'rejected', status: 404, detail: '' }, 1, 0);
    expect(settlement).toMatchObject({
      lastError: 'the Solar Curtailment Service refused it with status 404',
    });
  });

  it.each<Outcome<RemoteUser>>([
    { kind: 'ambiguous', reason: 'connection reset' },
    { kind: 'ambiguous', reason: 'responded with status 503', retryAfterMs: 1_000 },
    { kind: 'unreadable', status: 200, reason: 'id must be a UUID' },
  ])('is uncertain when an effect is possible, and never planned again: %j', (outcome) => {
    const settlement = planSettlement(outcome, 1, 0);
    expect(settlement.status).toBe('uncertain');
    expect(settlement).not.toHaveProperty('nextAttemptInMs');
  });

  it.each(notSentReasons)('stays pending when nothing was sent: %s', (reason) => {
    const settlement = planSettlement({ kind: 'not_sent', reason }, 1, 0);
    expect(settlement).toMatchObject({
      status: 'pending',
      nextAttemptInMs: reason === 'credentials_rejected' ? 60_000 : 500,
    });
  });

  it.each([
    [undefined, 500],
    [100, 500],
    [30_000, 30_000],
    [3_600_000, 3_600_000],
    [10 ** 12, 3_600_000],
  ])('waits at least as long as Retry-After says, within an hour: %s ms', (retryAfterMs, expectedMs) => {
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    const settlement = planSettlement({ kind: 'not_sent', reason: 'rate_limited', ...wait }, 1, 0);
    expect(settlement).toMatchObject({ nextAttemptInMs: expectedMs });
  });
});

describe('the backoff', () => {
  const delayMs = (attempts: number, random: number) => {
    const settlement = planSettlement({ kind: 'not_sent', reason: 'unreachable' }, attempts, random);
    return settlement.status === 'pending' && settlement.nextAttemptInMs;
  };

  it('doubles from a second to five minutes, for any number of attempts', () => {
    const longest = [1, 2, 3, 8, 9, 10, 1_000, 2 ** 31].map((attempts) => delayMs(attempts, 1));
    expect(longest).toEqual([1_000, 2_000, 4_000, 128_000, 256_000, 300_000, 300_000, 300_000]);
  });

  it('is half random', () => {
    expect([0, 0.5].map((random) => delayMs(3, random))).toEqual([2_000, 3_000]);
  });
});

describe('what a person decides', () => {
  it.each([
    ['pending', ['retry', 'discard', 'resolve']],
    ['registered', []],
    ['rejected', ['retry', 'discard', 'resolve']],
    ['uncertain', ['retry', 'discard', 'resolve']],
    ['discarded', ['resolve']],
  ] as const)('about one that is %s may be %j', (status, allowed) => {
    expect(PERSON_DECISIONS.filter((decision) => DECIDABLE[decision].includes(status))).toEqual(allowed);
    expect(REGISTRATION_STATUSES).toContain(status);
  });
});

describe('docs/registrations.md', () => {
  it('draws every move there is, and no other', () => {
    const document = readFileSync(new URL('../../../docs/registrations.md', import.meta.url), 'utf8');
    const drawn = [...document.matchAll(/^ {4}(\w+) --> (\w+):/gm)].map(([, from, to]) => `${from} -> ${to}`);

    const answers = ['registered', 'rejected', 'pending'];
    const decided = { retry: 'pending', discard: 'discarded', resolve: 'registered' };
    const moves = new Set([
      ...[...answers, 'uncertain'].map((to) => `pending -> ${to}`),
      // A late response with a certain outcome settles an uncertain registration.
      ...answers.map((to) => `uncertain -> ${to}`),
      ...PERSON_DECISIONS.flatMap((decision) =>
        DECIDABLE[decision].map((from) => `${from} -> ${decided[decision]}`),
      ),
    ]);
    expect(drawn.sort()).toEqual([...moves].sort());
  });
});
