import { describe, expect, it } from '@jest/globals';
import { itAtLength, promise } from '../../../test/faults/support/promise.js';
import { SESSION_STATES } from '../../events/event-schemas.rules.js';
import { classify, next } from './machine.rules.js';
import type { Observation, SessionState } from './machine.rules.js';

const STARTED = new Date('2026-11-20T10:00:00Z');
const MOVED = new Date('2026-11-20T10:05:00Z');

type Classify = (seen: Observation, startedUpdatedAt: Date) => { readonly state: SessionState };

/** Returns the documented state, computed independently of the rules under test. */
function stateByContract({ finished, active, expired, inverters, updatedAt }: Observation): SessionState {
  const listed = inverters?.length ?? 0;
  if (finished && listed >= 1) return 'online';
  if (expired === true) return 'expired';
  if (finished || !active) return 'unrecognised';
  return listed === 0 && updatedAt === STARTED ? 'awaiting_owner' : 'awaiting_installation';
}

const FLAGS = [false, true];
const EVERY_OBSERVATION: readonly Observation[] = FLAGS.flatMap((finished) =>
  FLAGS.flatMap((active) =>
    [null, false, true].flatMap((expired) =>
      [null, 0, 1, 2].flatMap((count) =>
        [STARTED, MOVED].map((updatedAt) => ({
          finished,
          active,
          expired,
          updatedAt,
          inverters: count === null ? null : Array.from({ length: count }, (_, index) => `inverter-${index}`),
        })),
      ),
    ),
  ),
);

/** Returns each pair of previous state and observation for which `classified` leads to an undocumented state. */
function differences(classified: Classify): string[] {
  return [null, ...SESSION_STATES].flatMap((previous) =>
    EVERY_OBSERVATION.filter((seen) => {
      const classification = classified(seen, STARTED);
      const expected = previous === 'online' ? 'online' : stateByContract(seen);
      const after = next(previous, { ...classification, basis: 'observed', rule: '' })?.state ?? previous;
      return after !== expected;
    }).map((seen) => `${previous} ${JSON.stringify(seen)}`),
  );
}

describe('R20: every combination of flags has one meaning', () => {
  it('is that of the contract, from every previous state, and online is never left', () => {
    expect(EVERY_OBSERVATION).toHaveLength(96);
    const found = differences(classify);
    promise('R20', {
      figure: `${found.length} exceptions in ${EVERY_OBSERVATION.length} combinations, from every state`,
      bound: '0',
    });
    expect(found).toEqual([]);
  });

  itAtLength('turns red when the flags are checked one after the other', () => {
    const oneAfterTheOther: Classify = ({ finished, active, expired }) => {
      if (finished) return { state: 'online' };
      if (expired) return { state: 'expired' };
      return { state: active ? 'awaiting_owner' : 'awaiting_installation' };
    };
    expect(differences(oneAfterTheOther)).not.toEqual([]);
  });
});

describe('classify', () => {
  const seen = { finished: false, active: true, expired: false, updatedAt: STARTED, inverters: [] };

  it('infers awaiting_installation, and observes every other state', () => {
    for (const observation of EVERY_OBSERVATION) {
      const { state, basis } = classify(observation, STARTED);
      expect(basis).toBe(state === 'awaiting_installation' ? 'inferred' : 'observed');
    }
  });

  it('names the rule that matched', () => {
    expect(classify(seen, STARTED).rule).toBe('as_started');
    expect(classify({ ...seen, updatedAt: MOVED }, STARTED).rule).toBe('updated_since_start');
    expect(classify({ ...seen, inverters: ['a'] }, STARTED).rule).toBe('inverters_before_finished');
    expect(classify({ ...seen, active: false }, STARTED).rule).toBe('undescribed_flags');
  });

  it('R81: takes an updatedAt before the start for no update', () => {
    const before = new Date(STARTED.getTime() - 1);
    expect(classify({ ...seen, updatedAt: before }, STARTED).rule).toBe('as_started');
    expect(classify({ ...seen, updatedAt: new Date(STARTED.getTime() + 1) }, STARTED).rule).toBe(
      'updated_since_start',
    );
  });

  it('compares instants, not their spelling', () => {
    expect(classify({ ...seen, updatedAt: new Date('2026-11-20T12:00:00+02:00') }, STARTED).state).toBe(
      'awaiting_owner',
    );
  });
});
