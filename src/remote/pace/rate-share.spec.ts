import { describe, expect, it } from '@jest/globals';
import { planDemand, planShare, usableShare, type PublishedShare } from './rate-share.rules.js';

const wanting = (...demands: number[]): PublishedShare[] => demands.map((demand) => ({ demand, share: 0 }));

describe('the demand of a replica', () => {
  it('is the whole ceiling while its calls wait', () => expect(planDemand(3, 0.1, true)).toBe(1));
  it('is more than it used, so that it can grow', () => expect(planDemand(3, 0.2, false)).toBe(0.25));
  it('is at most the ceiling', () => expect(planDemand(1, 1, false)).toBe(1));
  it('is a tenth of an equal share while it is idle', () => expect(planDemand(4, 0, false)).toBe(0.025));
});

describe('the planned share of the ceiling', () => {
  it.each<[string, number, number[], number]>([
    ['is all of it for a replica that is alone', 0.1, [], 1],
    ['is an equal part if all want all', 1, [1, 1], 1 / 3],
    ['is what idle replicas leave', 1, [0.05, 0.05], 0.9],
    ['is what it wants while others want more than there is', 0.05, [1, 1], 0.05],
    ['is equal for those that want more than an equal part of what the others leave', 1, [1, 0.2], 0.4],
    ['includes an equal part of what nobody wants', 0.2, [0.4], 0.4],
  ])('%s', (_what, mine, others, share) => expect(planShare(mine, wanting(...others))).toBeCloseTo(share));

  it('adds up to the ceiling', () => {
    const parts = [0.01, 0.1, 0.3, 0.5, 0.9, 1];
    for (const a of parts)
      for (const b of parts)
        for (const c of parts) {
          const shares = [
            planShare(a, wanting(b, c)),
            planShare(b, wanting(c, a)),
            planShare(c, wanting(a, b)),
          ];
          expect(shares.reduce((sum, share) => sum + share)).toBeCloseTo(1);
        }
  });
});

describe('the usable share', () => {
  interface Replica extends PublishedShare {
    readonly usable: number;
    /** The shares of the others, as of its last heartbeat. */
    readonly others: readonly PublishedShare[];
  }
  let seed = 7;
  const random = (below: number) => (seed = (seed * 16_807) % 2_147_483_647) % below;

  /** Simulates a heartbeat. `read`: the shares that it reads, without those that other replicas publish at the same time. */
  function beat(before: Replica | undefined, read: readonly PublishedShare[]): Replica {
    const demand = [0.03, 0.1, 0.3, 1][random(4)]!;
    const share = before ? planShare(demand, before.others) : 0;
    const usable = usableShare(before?.share ?? 0, share, read);
    return { demand, share, usable, others: read };
  }
  const sum = (replicas: Iterable<Replica>) => [...replicas].reduce((total, { usable }) => total + usable, 0);

  it('adds up to at most the ceiling, in whatever order replicas join, leave and publish, even two at the same time', () => {
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
      expect(sum(live.values())).toBeLessThanOrEqual(1 + 1e-9);
    }
  });

  it('adds up to the ceiling once each replica has published three times', () => {
    const demands = [0.05, 0.05, 1, 1];
    const replicas: Replica[] = demands.map((demand) => ({ demand, share: 0, usable: 0, others: [] }));
    const publish = (id: number) => {
      const { demand, share: before } = replicas[id]!;
      const others = replicas.filter((_, other) => other !== id);
      const share = planShare(demand, others);
      replicas[id] = { demand, share, usable: usableShare(before, share, others), others };
    };
    for (let round = 0; round < 3; round++) for (const id of demands.keys()) publish(id);
    expect(replicas.map(({ usable }) => usable)).toEqual(
      [0.05, 0.05, 0.45, 0.45].map((share) => expect.closeTo(share)),
    );
  });
});
