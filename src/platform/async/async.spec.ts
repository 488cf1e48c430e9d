import { getEventListeners } from 'node:events';
import { stat } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import { backoffMs } from './backoff.rules.js';
import { Coalescer } from './coalescer.js';
import { Loop } from './loop.js';
import { WakeUp } from './wake-up.js';
import { within } from './within.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const never = new AbortController().signal;

describe('a coalescer', () => {
  it('shares one further run among the requests that come during a run', async () => {
    const ends: (() => void)[] = [];
    const coalescer = new Coalescer(() => new Promise<void>((resolve) => ends.push(resolve)));
    const first = coalescer.run();
    const further = [coalescer.run(), coalescer.run(), coalescer.run()];
    expect(ends).toHaveLength(1);

    ends[0]!();
    await first;
    await nextTurn();
    expect(ends).toHaveLength(2);

    ends[1]!();
    await Promise.all(further);
    await nextTurn();
    expect(ends).toHaveLength(2);
  });

  it('never runs twice at once, whenever requests come, and serves each by a run that begins after it', async () => {
    let running = 0;
    let asked = 0;
    let served = 0;
    const coalescer = new Coalescer(async () => {
      expect(++running).toBe(1);
      const begunAt = asked;
      await Promise.resolve();
      served = begunAt;
      running -= 1;
    });
    const requests: Promise<void>[] = [];
    for (let turn = 0; turn < 200; turn++) {
      const mine = ++asked;
      requests.push(coalescer.run().then(() => expect(served).toBeGreaterThanOrEqual(mine)));
      for (let ticks = turn % 9; ticks > 0; ticks--) await Promise.resolve();
    }
    await Promise.all(requests);
  });

  it('continues after a failed run, which rejects only for the callers that it served', async () => {
    const work = jest
      .fn<() => Promise<void>>()
      .mockRejectedValueOnce(new Error('failed'))
      .mockResolvedValue();
    const coalescer = new Coalescer(work);
    const first = coalescer.run();
    const second = coalescer.run();
    await expect(first).rejects.toThrow('failed');
    await expect(second).resolves.toBeUndefined();
    await coalescer.run();
    expect(work).toHaveBeenCalledTimes(3);
  });
});

describe('within', () => {
  it('takes the result that arrived while the process was stopped for longer', async () => {
    const result = new Promise((resolve) => {
      // In this callback, the timers that have expired are the next to fire.
      stat('.', () => {
        const work = new Promise((done) => stat('.', () => done('arrived')));
        resolve(within(20, work, () => 'late'));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      });
    });
    await expect(result).resolves.toBe('arrived');
  });

  it('settles as the work does if the work is in time', async () => {
    await expect(within(1_000, Promise.resolve('done'))).resolves.toBe('done');
    await expect(within(1_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  });

  it('settles without the work if the work is late', async () => {
    const hanging = new Promise<string>(() => {});
    await expect(within(1, hanging)).resolves.toBeUndefined();
    await expect(within(1, hanging, () => 'late')).resolves.toBe('late');
    const refuse = (): never => {
      throw new Error('late');
    };
    await expect(within(1, hanging, refuse)).rejects.toThrow('late');
  });
});

describe('the wait after failures', () => {
  it('doubles up to its limit', () => {
    const waits = [1, 2, 3, 4, 5, 2_000].map((failures) =>
      backoffMs({ firstMs: 500, mostMs: 5_000 }, failures),
    );
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  });

  it('is reduced at random by at most half', () => {
    expect(backoffMs({ firstMs: 1_000, mostMs: 60_000 }, 3, 0)).toBe(2_000);
    expect(backoffMs({ firstMs: 1_000, mostMs: 60_000 }, 3, 0.5)).toBe(3_000);
  });
});

describe('a wait', () => {
  it('leaves neither a timer nor a listener behind, however it ends', async () => {
    jest.useFakeTimers();
    try {
      const wakeUp = new WakeUp();
      const stop = new AbortController();
      const left = () => [jest.getTimerCount(), getEventListeners(stop.signal, 'abort').length];
      for (const end of [() => wakeUp.signal(), () => jest.advanceTimersByTime(1_000), () => stop.abort()]) {
        const wait = wakeUp.wait(stop.signal, 1_000);
        expect(left()).toEqual([1, 1]);
        end();
        await wait;
        expect(left()).toEqual([0, 0]);
      }
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('a loop', () => {
  it('runs the next step at once after a signal, even if the signal came during a step', async () => {
    const wakeUp = new WakeUp();
    let steps = 0;
    const loop = new Loop({
      step: async () => {
        steps += 1;
        if (steps === 1) wakeUp.signal();
        return 60_000;
      },
      onError: () => 60_000,
      wakeUp,
    });
    loop.start();
    await nextTurn();
    expect(steps).toBe(2);
    wakeUp.signal();
    await nextTurn();
    expect(steps).toBe(3);
    await loop.stop();
    wakeUp.signal();
    await nextTurn();
    expect(steps).toBe(3);
  });

  it('counts consecutive failures', async () => {
    const counts: number[] = [];
    let steps = 0;
    const ended = new AbortController();
    const loop = new Loop({
      step: async () => {
        steps += 1;
        if (steps === 5) ended.abort();
        if (steps !== 3) throw new Error('failed');
        return 0;
      },
      onError: (_error, failures) => counts.push(failures),
    });
    loop.start();
    await new WakeUp().wait(ended.signal, 10_000);
    await loop.stop();
    expect(counts.slice(0, 3)).toEqual([1, 2, 1]);
  });

  it('stops after the given time even if a step hangs', async () => {
    let stop = never;
    const loop = new Loop({
      step: (signal) => {
        stop = signal;
        return new Promise(() => {});
      },
      onError: () => 0,
    });
    loop.start();
    await loop.stop(5);
    expect(stop.aborted).toBe(true);
  });
});
