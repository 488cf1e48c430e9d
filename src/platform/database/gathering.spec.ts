import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../../test/setup/wait-for.js';
import { Gathering } from './gathering.js';

const isOfOne = (error: unknown): boolean => error instanceof RangeError;

/** Doubles numbers. Its batches end on command; it records which items ran together and which alone. */
function doubling({ mostAtOnce = 100, fault }: { mostAtOnce?: number; fault?: (n: number) => unknown } = {}) {
  const goes: number[][] = [];
  const alone: number[] = [];
  const ends: (() => void)[] = [];
  const double = (n: number): number => {
    if (fault?.(n)) throw fault(n);
    return 2 * n;
  };
  const gathering = new Gathering<number, number | null>(
    {
      together: async (items) => {
        goes.push([...items]);
        await new Promise<void>((resolve) => ends.push(resolve));
        return items.map((n) => (n < 0 ? undefined : n === 0 ? null : double(n)));
      },
      alone: async (n) => {
        alone.push(n);
        return Promise.resolve(double(n));
      },
      mayBeOfOne: isOfOne,
    },
    mostAtOnce,
  );
  const add = (...numbers: number[]) => Promise.allSettled(numbers.map((n) => gathering.add(n)));
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await turn();
  };
  return { add, end, goes, alone };
}

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
const values = (settled: readonly PromiseSettledResult<unknown>[]) =>
  settled.map((each) => (each.status === 'fulfilled' ? each.value : String(each.reason)));

describe('gathering', () => {
  it('does what arrives in one turn in one go, and what arrives meanwhile in the next', async () => {
    const { add, end, goes } = doubling();
    const first = add(1, 2);
    await turn();
    const [second, third] = [add(3), add(4)];
    await turn();
    expect(goes).toEqual([[1, 2]]);
    await end();
    expect(values(await first)).toEqual([2, 4]);
    expect(goes).toEqual([
      [1, 2],
      [3, 4],
    ]);
    await end();
    expect(values([...(await second), ...(await third)])).toEqual([6, 8]);
  });

  it('does no more in one go than it may', async () => {
    const { add, end, goes } = doubling({ mostAtOnce: 2 });
    const all = add(1, 2, 3);
    await turn();
    await end();
    await end();
    expect(values(await all)).toEqual([2, 4, 6]);
    expect(goes).toEqual([[1, 2], [3]]);
  });

  it('begins anew when it has had nothing to do', async () => {
    const { add, end, goes } = doubling();
    for (const n of [1, 2]) {
      const one = add(n);
      await turn();
      await end();
      expect(values(await one)).toEqual([2 * n]);
    }
    expect(goes).toEqual([[1], [2]]);
  });

  it('does alone what could not be done in company, and takes null for a result', async () => {
    const { add, end, alone } = doubling();
    const all = add(0, -1, 2);
    await turn();
    await end();
    expect(values(await all)).toEqual([null, -2, 4]);
    expect(alone).toEqual([-1]);
  });

  it('tries each alone when one of them may be at fault, and fails that one only', async () => {
    const fault = (n: number) => (n === 2 ? new RangeError('two') : undefined);
    const { add, end } = doubling({ fault });
    const all = add(1, 2, 3);
    await turn();
    await end();
    expect(values(await all)).toEqual([2, 'RangeError: two', 6]);
  });

  it('fails all when it is nobody’s fault, and goes on with the next', async () => {
    const fault = (n: number) => (n === 2 ? new Error('away') : undefined);
    const { add, end, alone } = doubling({ fault });
    const all = add(1, 2);
    await turn();
    const next = add(3);
    await end();
    expect(values(await all)).toEqual(['Error: away', 'Error: away']);
    await end();
    expect(values(await next)).toEqual([6]);
    expect(alone).toEqual([]);
  });

  it('does not let those that come later wait for one that is done alone', async () => {
    const gathering = new Gathering<number, number>(
      {
        together: async (items) => Promise.resolve(items.map((n) => (n === 1 ? undefined : n))),
        alone: () => new Promise<never>(() => {}),
        mayBeOfOne: isOfOne,
      },
      100,
    );
    void gathering.add(1);
    await turn();
    expect(await gathering.add(2)).toBe(2);
  });

  it('lets those that come while a go is stuck have one beside it, and goes on in turn when it is over', async () => {
    const { add, end, goes } = doubling();
    const stuck = add(1);
    await turn();
    const next = add(2);
    await waitFor('a go beside the one that is stuck', () => goes.length === 2);
    expect(goes).toEqual([[1], [2]]);
    const third = add(3);
    await turn();
    expect(goes).toHaveLength(2);
    await end();
    expect(values(await stuck)).toEqual([2]);
    await end();
    await end();
    expect(values([...(await next), ...(await third)])).toEqual([4, 6]);
  });

  it('tries only so many alone at once', async () => {
    let [running, most] = [0, 0];
    const gathering = new Gathering<number, number>(
      {
        together: async (items) => Promise.resolve(items.map(() => undefined)),
        alone: async (n) => {
          most = Math.max(most, ++running);
          await turn();
          running--;
          return n;
        },
        mayBeOfOne: isOfOne,
      },
      100,
    );
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    expect(await Promise.all(numbers.map((n) => gathering.add(n)))).toEqual(numbers);
    expect(most).toBe(4);
  });
});
