import { describe, expect, it } from '@jest/globals';
import { lastEndOf, planRotation, type PreviousSecret } from './secret.rules.js';

const NOW = new Date('2026-11-21T12:00:00Z');
const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const previous: readonly PreviousSecret[] = [
  { secret: 'second', until: after(60) },
  { secret: 'first', until: after(86_400) },
];

describe('a secret that is rotated', () => {
  it('signs for as long as the overlap, and those before it as long as they would have', () => {
    const planned = planRotation({ secret: 'third', previous }, 'fourth', 3_600, NOW);
    expect(planned).toEqual([{ secret: 'third', until: after(3_600) }, ...previous]);
  });

  it('ends all others without an overlap', () => {
    expect(planRotation({ secret: 'third', previous }, 'fourth', 0, NOW)).toEqual([]);
    expect(lastEndOf([])).toBeNull();
  });

  it('has a last end, which need not be that of the newest', () => {
    expect(lastEndOf(previous)).toEqual(after(86_400));
  });

  it('stays alone when it is replaced by itself', () => {
    expect(planRotation({ secret: 'third', previous }, 'third', 3_600, NOW)).toEqual(previous);
  });

  it('is no previous one any more when it comes back', () => {
    const planned = planRotation({ secret: 'third', previous }, 'first', 3_600, NOW);
    expect(planned.map(({ secret }) => secret)).toEqual(['third', 'second']);
  });

  it('puts the oldest of five out', () => {
    const four = ['fourth', 'third', 'second', 'first'].map((secret) => ({ secret, until: after(60) }));
    const planned = planRotation({ secret: 'fifth', previous: four }, 'sixth', 60, NOW);
    expect(planned.map(({ secret }) => secret)).toEqual(['fifth', 'fourth', 'third', 'second']);
  });
});
