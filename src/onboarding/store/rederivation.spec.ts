import { describe, expect, it } from '@jest/globals';
import { planRederivation } from './rederivation.js';
import type { SessionHistory } from './rederivation.js';

const STARTED = new Date('2026-11-20T10:00:00Z');
const seen = { finished: false, active: true, expired: false, updatedAt: STARTED, inverters: [] as string[] };
const history = (changes: Partial<SessionHistory>): SessionHistory => ({
  id: 's',
  state: 'awaiting_owner',
  startedUpdatedAt: STARTED,
  responses: [seen],
  ...changes,
});

describe('planRederivation', () => {
  it('finds nothing where the rules still say the same', () => {
    expect(planRederivation(history({}))).toBeNull();
    expect(planRederivation(history({ responses: [] }))).toBeNull();
  });

  it('names the state that today’s rules give and the rule', () => {
    const change = planRederivation(
      history({ state: 'unrecognised', responses: [seen, { ...seen, expired: true }] }),
    );
    expect(change).toEqual({
      id: 's',
      from: 'unrecognised',
      classification: { state: 'expired', basis: 'observed', rule: 'expired_flag' },
    });
  });

  it('goes through the responses in order: what once was online stays online', () => {
    const online = { ...seen, finished: true, active: false, inverters: ['a'] };
    expect(
      planRederivation(history({ state: 'online', responses: [seen, online, { ...seen, expired: true }] })),
    ).toBeNull();
  });

  it('knows a session that was answered with 404', () => {
    expect(
      planRederivation(history({ state: 'awaiting_owner', responses: [seen, null] }))?.classification.state,
    ).toBe('lost');
  });
});
