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
  it('returns null if the rules still derive the recorded state', () => {
    expect(planRederivation(history({}))).toBeNull();
    expect(planRederivation(history({ responses: [] }))).toBeNull();
  });

  it('returns the state that the current rules derive, and the rule', () => {
    const change = planRederivation(
      history({ state: 'unrecognised', responses: [seen, { ...seen, expired: true }] }),
    );
    expect(change).toEqual({
      id: 's',
      from: 'unrecognised',
      classification: { state: 'expired', basis: 'observed', rule: 'expired_flag' },
    });
  });

  it('replays the responses in order: a session that was online stays online', () => {
    const online = { ...seen, finished: true, active: false, inverters: ['a'] };
    expect(
      planRederivation(history({ state: 'online', responses: [seen, online, { ...seen, expired: true }] })),
    ).toBeNull();
  });

  it('R81: keeps a session expired when a later response omits the flag', () => {
    const omitted = { ...seen, expired: null };
    const responses = [omitted, { ...seen, expired: true }, omitted];
    expect(planRederivation(history({ state: 'expired', responses }))).toBeNull();
  });

  it('calls a session lost after a 404', () => {
    expect(
      planRederivation(history({ state: 'awaiting_owner', responses: [seen, 404] }))?.classification.state,
    ).toBe('lost');
  });

  it('names the refusal that made a session lost', () => {
    const refused = history({ state: 'awaiting_owner', responses: [seen, 403] });
    expect(planRederivation(refused)?.classification.rule).toBe('refused_on_every_path');
  });
});
