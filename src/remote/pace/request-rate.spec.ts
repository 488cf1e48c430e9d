import { describe, expect, it } from '@jest/globals';
import { planShare } from './request-rate.js';

describe('the share of the ceiling', () => {
  it.each<[string, number, number, boolean, number]>([
    ['is all of it for a replica that is alone', 0, 1, true, 100],
    ['is nothing for one that joins and that another has not counted yet', 0, 3, false, 0],
    ['is an equal part once all have counted all', 0, 4, true, 25],
    ['falls at once when another joins', 50, 4, false, 25],
    ['does not grow while another may still send as much as before', 25, 3, false, 25],
    ['grows when one has left', 25, 2, true, 50],
  ])('%s', (_what, current, replicas, settled, share) =>
    expect(planShare(100, current, { replicas, settled })).toBe(share),
  );

  it('adds up to the ceiling or less, in whatever order replicas join, leave and count', () => {
    const counted = new Map<number, number>();
    const share = new Map<number, number>();
    let seed = 7;
    const random = (below: number) => (seed = (seed * 16_807) % 2_147_483_647) % below;
    for (let step = 0; step < 20_000; step++) {
      const id = random(6);
      if (random(5) === 0) {
        share.delete(id);
        counted.delete(id);
        continue;
      }
      const joins = !counted.has(id);
      const others = [...counted].filter(([other]) => other !== id);
      const replicas = others.length + 1;
      counted.set(id, replicas);
      const settled = others.every(([, count]) => count >= replicas);
      share.set(id, joins ? 0 : planShare(60, share.get(id) ?? 0, { replicas, settled }));
      expect([...share.values()].reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(60 + 1e-9);
    }
  });
});
