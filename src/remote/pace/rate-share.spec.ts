import { describe, expect, it } from '@jest/globals';
import { planDemand, planShare, usableShare, type ToldShare } from './rate-share.rules.js';

const CEILING = 60;
const wanting = (...demands: number[]): ToldShare[] =>
  demands.map((demandPerSecond) => ({ demandPerSecond, sharePerSecond: 0 }));

describe('the demand of a replica', () => {
  it('is the whole ceiling while its calls wait', () =>
    expect(planDemand(CEILING, 3, 1, true)).toBe(CEILING));
  it('is more than it used, so that it can grow', () => expect(planDemand(CEILING, 3, 10, false)).toBe(15));
  it('is a tenth of an equal share while it is idle', () => expect(planDemand(CEILING, 3, 0, false)).toBe(2));
});

describe('the planned share of the ceiling', () => {
  it.each<[string, number, number[], number]>([
    ['is all of it for a replica that is alone', 6, [], 60],
    ['is an equal part if all want all', 60, [60, 60], 20],
    ['is what idle replicas leave', 60, [2, 2], 56],
    ['is what it wants while others want more than there is', 2, [60, 60], 2],
    ['is equal for those that want more than an equal part of what the others leave', 60, [60, 10], 25],
    ['includes an equal part of what nobody wants', 10, [20], 25],
  ])('%s', (_what, mine, others, share) =>
    expect(planShare(CEILING, mine, wanting(...others))).toBeCloseTo(share),
  );

  it('adds up to the ceiling', () => {
    for (let a = 1; a <= 60; a += 7)
      for (let b = 1; b <= 60; b += 7)
        for (let c = 1; c <= 60; c += 7) {
          const shares = [
            planShare(CEILING, a, wanting(b, c)),
            planShare(CEILING, b, wanting(c, a)),
            planShare(CEILING, c, wanting(a, b)),
          ];
          expect(shares.reduce((sum, share) => sum + share)).toBeCloseTo(CEILING);
        }
  });
});

describe('the usable share', () => {
  interface Replica extends ToldShare {
    readonly usable: number;
    /** What it read of the others at its last heartbeat. */
    readonly others: readonly ToldShare[];
  }
  let seed = 7;
  const random = (below: number) => (seed = (seed * 16_807) % 2_147_483_647) % below;

  /** The heartbeat of a replica, in whose time another may tell its own: `read` is what it reads of the others. */
  function beat(before: Replica | undefined, read: readonly ToldShare[]): Replica {
    const demandPerSecond = [2, 7, 20, CEILING][random(4)]!;
    const sharePerSecond = before ? planShare(CEILING, demandPerSecond, before.others) : 0;
    const usable = usableShare(CEILING, before?.sharePerSecond ?? 0, sharePerSecond, read);
    return { demandPerSecond, sharePerSecond, usable, others: read };
  }
  const sum = (replicas: Iterable<Replica>) => [...replicas].reduce((total, { usable }) => total + usable, 0);

  it('adds up to the ceiling or less, in whatever order replicas join, leave and tell, two at the same time included', () => {
    const live = new Map<number, Replica>();
    for (let step = 0; step < 20_000; step++) {
      const [first, second] = [random(6), random(6)];
      if (random(5) === 0) live.delete(first);
      else {
        // Statements that run at the same time do not see each other.
        const seen = new Map(live);
        for (const id of new Set([first, second])) {
          const others = [...seen].filter(([other]) => other !== id).map(([, replica]) => replica);
          live.set(id, beat(live.get(id), others));
        }
      }
      expect(sum(live.values())).toBeLessThanOrEqual(CEILING + 1e-9);
    }
  });

  it('adds up to the ceiling once each has told what it wants three times', () => {
    const demands = [2, 2, CEILING, CEILING];
    const replicas: Replica[] = demands.map((demandPerSecond) => ({
      demandPerSecond,
      sharePerSecond: 0,
      usable: 0,
      others: [],
    }));
    const tell = (id: number) => {
      const { demandPerSecond, sharePerSecond: before } = replicas[id]!;
      const others = replicas.filter((_, other) => other !== id);
      const sharePerSecond = planShare(CEILING, demandPerSecond, others);
      const usable = usableShare(CEILING, before, sharePerSecond, others);
      replicas[id] = { demandPerSecond, sharePerSecond, usable, others };
    };
    for (let round = 0; round < 3; round++) for (const id of demands.keys()) tell(id);
    expect(replicas.map(({ usable }) => usable)).toEqual([2, 2, 28, 28]);
  });
});
