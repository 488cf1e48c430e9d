import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { NotSentReason, Outcome } from '../../remote/outcome.rules.js';
import { DECIDABLE, PERSON_DECISIONS } from '../../decisions/decision.rules.js';
import {
  type CalledRegistration,
  planOutcome,
  planSettlement,
  REGISTRATION_STATUSES,
  type Settlement,
  unstored,
  withForeignIds,
} from './registration.rules.js';
import type { RemoteUser } from '../remote/remote-user.rules.js';

const USER = { id: 'a user' } as RemoteUser;

const NOT_SENT_REASONS: Record<NotSentReason, true> = {
  unreachable: true,
  proxy_fails: true,
  breaker_open: true,
  rate_limited: true,
  wait_requested: true,
  limiter_timeout: true,
  credentials_rejected: true,
  token_unavailable: true,
  foreign_response: true,
  stopping: true,
};
const notSentReasons = Object.keys(NOT_SENT_REASONS) as NotSentReason[];

describe('the outcome of a registration call', () => {
  it('is registered if the user is confirmed', () => {
    expect(planSettlement({ kind: 'done', value: USER }, 1, 0)).toEqual({ status: 'registered', user: USER });
  });

  it('is rejected after a refusal, and quotes the service only in lastError', () => {
    expect(planSettlement({ kind: 'rejected', status: 422, detail: 'EAN unknown' }, 1, 0)).toEqual({
      status: 'rejected',
      lastError: 'the Solar Curtailment Service refused it with status 422: EAN unknown',
      reason: 'the Solar Curtailment Service refused it with status 422',
    });
  });

  it('is uncertain if a repeated call conflicts: an earlier call may have created the user', () => {
    const conflict: Outcome<RemoteUser> = { kind: 'rejected', status: 409, detail: 'there is user 4711' };
    expect(planSettlement(conflict, 1, 0)).toMatchObject({ status: 'rejected' });
    expect(planSettlement(conflict, 2, 0)).toEqual({
      status: 'uncertain',
      lastError: 'the Solar Curtailment Service refused it with status 409: there is user 4711',
      reason: 'the Solar Curtailment Service refused it with status 409',
    });
    expect(planSettlement({ ...conflict, status: 422 }, 2, 0)).toMatchObject({ status: 'rejected' });
  });

  it.each<[Outcome<RemoteUser>, string]>([
    [
      { kind: 'ambiguous', reason: 'reset' },
      'the call may have had its effect, but its response was lost (reset)',
    ],
    [
      { kind: 'ambiguous', reason: 'responded with status 503', status: 503, retryAfterMs: 1_000 },
      'the Solar Curtailment Service responded with status 503, which does not say whether the call had its effect',
    ],
    [
      { kind: 'unreadable', status: 200, reason: 'id must be a UUID' },
      'the response 200 does not confirm the user (id must be a UUID)',
    ],
  ])('is uncertain if the call may have had an effect, and is never retried: %j', (outcome, lastError) => {
    const settlement = planSettlement(outcome, 1, 0);
    expect(settlement).toMatchObject({ status: 'uncertain', lastError });
    expect(settlement).not.toHaveProperty('nextAttemptInMs');
  });

  it.each(notSentReasons)('stays pending when nothing was sent: %s', (reason) => {
    const settlement = planSettlement({ kind: 'not_sent', reason }, 1, 0);
    expect(settlement).toMatchObject({
      status: 'pending',
      nextAttemptInMs: reason === 'credentials_rejected' ? 5_000 : 500,
    });
  });

  it.each([
    [undefined, 500],
    [100, 500],
    [30_000, 30_000],
    [3_600_000, 3_600_000],
    [10 ** 12, 3_600_000],
  ])('is retried after Retry-After, if that is at most an hour: %s ms', (retryAfterMs, expectedMs) => {
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    const settlement = planSettlement({ kind: 'not_sent', reason: 'rate_limited', ...wait }, 1, 0);
    expect(settlement).toMatchObject({ nextAttemptInMs: expectedMs });
  });

  it('is retried after half a minute at most if the breaker is open', () => {
    const open = { kind: 'not_sent', reason: 'breaker_open', retryAfterMs: 30_001 } as const;
    expect(planSettlement(open, 1, 0)).toMatchObject({ nextAttemptInMs: 30_000 });
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

  it('is shortened at random by up to half', () => {
    expect([0, 0.5].map((random) => delayMs(3, random))).toEqual([2_000, 3_000]);
  });
});

describe('the decisions of a person', () => {
  it.each([
    ['pending', ['retry', 'discard', 'resolve']],
    ['registered', []],
    ['rejected', ['retry', 'discard', 'resolve']],
    ['uncertain', ['retry', 'discard', 'resolve']],
    ['discarded', ['resolve']],
  ] as const)('about a registration that is %s are %j', (status, allowed) => {
    expect(PERSON_DECISIONS.filter((decision) => DECIDABLE[decision].includes(status))).toEqual(allowed);
    expect(REGISTRATION_STATUSES).toContain(status);
  });
});

describe('the outcome of a call that has ended', () => {
  const registered: Settlement = { status: 'registered', user: USER };
  const rejected: Settlement = { status: 'rejected', lastError: 'no', reason: 'no' };
  const uncertain: Settlement = { status: 'uncertain', lastError: 'lost', reason: 'lost' };
  const called = (row: Partial<CalledRegistration>): CalledRegistration => ({
    status: 'pending',
    userId: null,
    lastError: null,
    isLeased: false,
    isFree: true,
    ...row,
  });

  it.each<[string, Settlement, CalledRegistration | undefined, 'write' | 'stored' | 'stale']>([
    ['of a registration that is gone', registered, undefined, 'stale'],
    ['under the lease', uncertain, called({ isLeased: true, isFree: false }), 'write'],
    [
      'under the lease, whatever is stored',
      rejected,
      called({ isLeased: true, status: 'discarded' }),
      'write',
    ],
    ['while another call has the lease', registered, called({ isFree: false }), 'stale'],
    ['that is stored', registered, called({ status: 'registered', userId: USER.id }), 'stored'],
    [
      'with another user than the stored one',
      registered,
      called({ status: 'registered', userId: 'b' }),
      'stale',
    ],
    ['that is stored as rejected', rejected, called({ status: 'rejected', lastError: 'no' }), 'stored'],
    ['rejected for another reason', rejected, called({ status: 'rejected', lastError: 'other' }), 'stale'],
    ['that is stored as uncertain', uncertain, called({ status: 'uncertain', lastError: 'lost' }), 'stored'],
    ['certain, of a pending one', registered, called({}), 'write'],
    ['certain, of a pending one with the same text', rejected, called({ lastError: 'no' }), 'write'],
    ['certain, of an uncertain one', rejected, called({ status: 'uncertain' }), 'write'],
    ['certain, of one that a person has discarded', registered, called({ status: 'discarded' }), 'stale'],
    ['uncertain, of one that a person has sent again', uncertain, called({}), 'stale'],
    ['uncertain, of an uncertain one', uncertain, called({ status: 'uncertain', lastError: 'x' }), 'stale'],
  ])('%s', (_, settlement, row, plan) => {
    expect(planOutcome(row, settlement)).toBe(plan);
  });

  it('with ids of another user is uncertain, and names the fields', () => {
    expect(withForeignIds(['id', 'gridLocations[0].id'])).toMatchObject({
      status: 'uncertain',
      lastError: expect.stringContaining('(id, gridLocations[0].id)'),
    });
  });

  it('that cannot be stored says so, with the id of the user that exists, and without other text', () => {
    expect(unstored(registered, 'XX000')).toMatchObject({
      status: 'uncertain',
      lastError: expect.stringMatching(/could not store it \(XX000\); the user's id is a user$/),
    });
    const refused = unstored({ ...rejected, lastError: 'text of the service' }, 'XX000');
    expect(refused).toEqual({ ...rejected, lastError: 'no; our database could not store more (XX000)' });
  });
});

describe('docs/registrations.md', () => {
  it('lists exactly the transitions that exist', () => {
    const document = readFileSync(new URL('../../../docs/registrations.md', import.meta.url), 'utf8');
    const [table = ''] = /^\| from .*?^$/ms.exec(document) ?? [];
    const [to = [], , ...rows] = table
      .trim()
      .split('\n')
      .map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')));
    const listed = rows.flatMap(([, from, ...causes]) =>
      causes.flatMap((cause, column) => (cause === '' ? [] : [`${from} -> ${to[column + 2]}`])),
    );

    const certain = ['registered', 'rejected', 'pending'];
    const decided = { retry: 'pending', discard: 'discarded', resolve: 'registered' };
    const transitions = new Set([
      ...[...certain, 'uncertain'].map((to) => `pending -> ${to}`),
      // A late response with a certain outcome settles an uncertain registration.
      ...certain.map((to) => `uncertain -> ${to}`),
      ...PERSON_DECISIONS.flatMap((decision) =>
        DECIDABLE[decision].map((from) => `${from} -> ${decided[decision]}`),
      ),
    ]);
    expect(listed.sort()).toEqual([...transitions].sort());
  });
});
