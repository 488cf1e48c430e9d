import { describe, expect, it } from '@jest/globals';
import { planRederivation } from './rederive.rules.js';
import type { SessionHistory } from './rederive.rules.js';

const STARTED = new Date('2026-11-20T10:00:00Z');
const seen = { finished: false, active: true, expired: false, updatedAt: STARTED, inverters: [] as string[] };
const history = (changes: Partial<SessionHistory>): SessionHistory => ({
  id: 's',
  state: 'awaiting_owner',
  rule: 'as_started',
  startedUpdatedAt: STARTED,
  answers: [seen],
  ...changes,
});

describe('planRederivation', () => {
  it('finds nothing where the rules still say the same', () => {
    expect(planRederivation(history({}))).toBeNull();
    expect(planRederivation(history({ answers: [] }))).toBeNull();
  });

  it('names the state that today’s rules give and the rule', () => {
    const change = planRederivation(
      history({ state: 'unrecognised', answers: [seen, { ...seen, expired: true }] }),
    );
    expect(change).toEqual({
      id: 's',
      from: 'unrecognised',
      verdict: { state: 'expired', basis: 'observed', rule: 'expired_flag' },
    });
  });

  it('goes through the answers in order: what once was online stays online', () => {
    const online = { ...seen, finished: true, active: false, inverters: ['a'] };
    expect(
      planRederivation(history({ state: 'online', answers: [seen, online, { ...seen, expired: true }] })),
    ).toBeNull();
  });

  it('knows a session that was answered with 404', () => {
    expect(planRederivation(history({ state: 'awaiting_owner', answers: [seen, null] }))?.verdict.state).toBe(
      'lost',
    );
  });
});
