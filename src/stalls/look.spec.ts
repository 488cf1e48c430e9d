import { describe, expect, it } from '@jest/globals';
import { later, look, type Candidate } from './look.rules.js';

const NOW = new Date('2026-06-01T12:00:00.000Z');
const at = (minutes: number) => later(NOW, minutes * 60_000);
const candidate = (cause: string, from: number, until?: number): Candidate => ({
  cause,
  since: at(-60),
  from: at(from),
  ...(until !== undefined && { until: at(until) }),
  evidence: {},
});

describe('a look', () => {
  it.each<[string, (Candidate | false | null)[], string | null, number | null]>([
    ['finds nothing in nothing', [false, null], null, null],
    ['finds the first that counts', [candidate('a', -1), candidate('b', -2)], 'a', null],
    ['waits for the next', [candidate('a', 5), candidate('b', 3)], null, 3],
    ['waits for what is more important', [candidate('a', 5), candidate('b', -1), candidate('c', 2)], 'b', 5],
    ['waits for the end', [candidate('a', -1, 4)], 'a', 4],
    ['ignores what has ended', [candidate('a', -5, -1), candidate('b', 2)], null, 2],
    ['counts from the instant itself', [candidate('a', 0)], 'a', null],
    ['does not count at its end', [candidate('a', -1, 0)], null, null],
  ])('%s', (_, candidates, cause, minutes) => {
    const found = look(candidates, NOW);
    expect(found.stall?.cause ?? null).toBe(cause);
    expect(found.lookAgainAt).toEqual(minutes === null ? null : at(minutes));
  });

  it('is repeated at the given time, if nothing happens earlier', () => {
    expect(look([candidate('a', 5)], NOW, at(2)).lookAgainAt).toEqual(at(2));
    expect(look([candidate('a', 1)], NOW, at(2)).lookAgainAt).toEqual(at(1));
  });
});
