import { describe, expect, it, jest } from '@jest/globals';
import { OutcomeWrites } from './outcome-writes.js';

const REFUSED = new Error('refused');

/** A write that fails so many times, and then returns its number. */
function failing(times: number) {
  let attempts = 0;
  return jest.fn(async () => {
    if (++attempts <= times) throw REFUSED;
    return attempts;
  });
}

const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  const waiting = Symbol('waiting');
  const settled = await Promise.race([
    promise.catch(() => null),
    new Promise((resolve) => setImmediate(resolve, waiting)),
  ]);
  return settled !== waiting;
};

describe('the write of an outcome', () => {
  it('runs once if it succeeds', async () => {
    const write = failing(0);
    expect(await new OutcomeWrites().repeat(write, 30_000)).toBe(1);
    expect(write).toHaveBeenCalledTimes(1);
  });

  it('is repeated after any error', async () => {
    const write = failing(2);
    expect(await new OutcomeWrites().repeat(write, 30_000)).toBe(3);
  });

  it('is repeated once even without patience, and then rethrows the error', async () => {
    const write = failing(Infinity);
    await expect(new OutcomeWrites().repeat(write, 0)).rejects.toBe(REFUSED);
    expect(write).toHaveBeenCalledTimes(2);
  });

  it('is repeated after a pause', async () => {
    const write = failing(Infinity);
    await expect(new OutcomeWrites().repeat(write, 300)).rejects.toBe(REFUSED);
    expect(write.mock.calls.length).toBeLessThan(20);
  });

  it('does not wait for another one', async () => {
    const writes = new OutcomeWrites();
    let end = (): void => {};
    const slow = writes.repeat(() => new Promise<void>((resolve) => (end = resolve)), 30_000);
    expect(await writes.repeat(failing(1), 30_000)).toBe(2);
    expect(await isSettled(slow)).toBe(false);
    end();
    await slow;
  });
});

describe('closing', () => {
  it('lets each write that pauses try once more, and forgets none that succeeds', async () => {
    const writes = new OutcomeWrites();
    const [passing, permanent] = [failing(1), failing(Infinity)];
    const written = writes.repeat(passing, Infinity);
    const given = writes.repeat(permanent, Infinity).catch((error: unknown) => error);
    // Both have failed once and pause.
    await new Promise(setImmediate);
    await writes.close();
    expect([await written, await given]).toEqual([2, REFUSED]);
    expect(permanent).toHaveBeenCalledTimes(2);
  });

  it('waits for a write that runs', async () => {
    const writes = new OutcomeWrites();
    let end = (): void => {};
    const written = writes.repeat(() => new Promise<void>((resolve) => (end = resolve)), 30_000);
    const closed = writes.close();
    expect(await isSettled(closed)).toBe(false);
    end();
    await Promise.all([written, closed]);
  });

  it('waits for the write that follows one that was given up', async () => {
    const writes = new OutcomeWrites();
    let hasEnded = false;
    const following = async () => {
      await new Promise(setImmediate);
      hasEnded = true;
    };
    const given = writes.repeat(failing(Infinity), Infinity).catch(() => writes.repeat(following, 0));
    await writes.close();
    expect(hasEnded).toBe(true);
    await given;
  });

  it('gives a write that begins later the two attempts of one without patience', async () => {
    const writes = new OutcomeWrites();
    await writes.close();
    const write = failing(Infinity);
    await expect(writes.repeat(write, 30_000)).rejects.toBe(REFUSED);
    expect(write).toHaveBeenCalledTimes(2);
    expect(await writes.repeat(failing(1), 30_000)).toBe(2);
  });
});

describe('the end of the patience', () => {
  it('lets a write run once more, and needs no close', async () => {
    const writes = new OutcomeWrites();
    const write = failing(Infinity);
    const written = writes.repeat(write, Infinity);
    const timers = jest.spyOn(globalThis, 'setTimeout');
    writes.endPatienceIn(1);
    expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([1]);
    timers.mockRestore();
    await expect(written).rejects.toBe(REFUSED);
    expect(write).toHaveBeenCalledTimes(2);
  });
});
