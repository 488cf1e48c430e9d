import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CallQueue, type Turn } from './call-queue.js';
import type { CallClass } from '../outcome.rules.js';
import { RequestBudget } from './request-budget.js';

const WAIT_MS = 1_000;

function queueOf({ ceiling = 4, perSecond = Infinity } = {}): CallQueue {
  return new CallQueue(ceiling, new RequestBudget(perSecond, () => Promise.resolve(0)), WAIT_MS);
}

/** Requests turns and returns the order in which they are granted. */
function requestTurns(subject: CallQueue, names: readonly [string, CallClass][]): string[] {
  const order: string[] = [];
  for (const [name, priority] of names) {
    void subject.turn(priority).then((turn) => order.push(turn === 'granted' ? name : `${name} ${turn}`));
  }
  return order;
}

const CLASSES = ['foreground change', 'foreground read', 'background change', 'background read'] as const;

/** Fills the limit with foreground calls, then queues 40 calls of each class. Returns the classes of the next 92 calls in their order. */
async function orderOfTurns(ceiling: number): Promise<CallClass[]> {
  const subject = queueOf({ ceiling });
  const first = Array<CallClass>(subject.limit).fill('foreground change');
  for (const name of first) void subject.turn(name);
  const order = requestTurns(
    subject,
    CLASSES.flatMap((name) => Array<[CallClass, CallClass]>(40).fill([name, name])),
  ) as CallClass[];
  for (let i = 0; i < 92; i++) {
    subject.end([...first, ...order][i]!, 'unknown', performance.now());
    await settle();
  }
  return order;
}

const settle = () => jest.advanceTimersByTimeAsync(0);

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('call queue', () => {
  it('admits no more than its limit at once, and the next when one ends', async () => {
    const subject = queueOf({ ceiling: 2 });
    const order = requestTurns(subject, [
      ['a', 'foreground read'],
      ['b', 'foreground read'],
      ['c', 'foreground read'],
    ]);
    await settle();
    expect(order).toEqual(['a', 'b']);
    subject.end('foreground read', 'unknown', performance.now());
    await settle();
    expect(order).toEqual(['a', 'b', 'c']);
    expect(subject.inFlight).toBe(2);
  });

  it('rounds its limit down', () => {
    const subject = queueOf({ ceiling: 7 });
    void subject.turn('background read');
    subject.end('background read', 'timed_out', performance.now());
    expect(subject.limit).toBe(3);
  });

  it('draws tokens for the waiting calls of all classes', async () => {
    const draw = jest.fn(() => Promise.resolve(0));
    jest.advanceTimersByTime(60_000);
    const subject = new CallQueue(4, new RequestBudget(100, draw), WAIT_MS);
    requestTurns(
      subject,
      CLASSES.map((name) => [name, name]),
    );
    await settle();
    expect(draw.mock.calls).toEqual([[10], [30]]);
  });

  it('reserves one place for foreground calls', async () => {
    const subject = queueOf({ ceiling: 3 });
    const order = requestTurns(subject, [
      ['b1', 'background read'],
      ['b2', 'background read'],
      ['b3', 'background read'],
      ['f1', 'foreground read'],
    ]);
    await settle();
    expect(order).toEqual(['b1', 'b2', 'f1']);
  });

  it('admits a background call even if its ceiling is 1', async () => {
    expect(await queueOf({ ceiling: 1 }).turn('background read')).toBe('granted');
  });

  it('admits waiting foreground calls first, and a background call after eight of them', async () => {
    const subject = queueOf({ ceiling: 1 });
    void subject.turn('foreground read');
    const foreground = Array.from({ length: 10 }, (_, i): [string, CallClass] => [
      `f${i}`,
      'foreground read',
    ]);
    const order = requestTurns(subject, [['b', 'background read'], ...foreground]);
    for (let i = 0; i < 11; i++) {
      subject.end(order.at(-1) === 'b' ? 'background read' : 'foreground read', 'unknown', performance.now());
      await settle();
    }
    expect(order).toEqual(['f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'b', 'f7', 'f8', 'f9']);
  });

  it('R44: gives each class its turns while all wait: 4, 3, 2 and 1 of 10', async () => {
    const order = await orderOfTurns(2);
    const share = CLASSES.map((name) => order.slice(2, 92).filter((turn) => turn === name).length);
    expect(share).toEqual([36, 27, 18, 9]);
  });

  it('R44: gives each class its turns also while the limit is below its ceiling', async () => {
    const order = await orderOfTurns(32);
    const gaps = CLASSES.map((name) => {
      const turns = order.flatMap((turn, i) => (turn === name ? [i] : []));
      return Math.max(...[...turns, order.length].map((turn, nth) => turn - (turns[nth - 1] ?? -1)));
    });
    // These bounds are also those of test/faults/remote/classes.spec.ts.
    expect(gaps.map((gap, i) => gap <= [5, 5, 8, 12][i]!)).toEqual([true, true, true, true]);
  });

  it('admits one foreground call above its limit while the limit is below its ceiling', async () => {
    const subject = queueOf({ ceiling: 32 });
    for (let i = 0; i < 10; i++) void subject.turn('background read');
    for (let i = 0; i < 2; i++) void subject.turn('foreground read');
    await settle();
    expect([subject.limit, subject.backgroundInFlight, subject.inFlight]).toEqual([8, 8, 9]);
  });

  it.each([
    [8, 9],
    [7, 8],
  ])('has the limit of 8, after one of %d background calls has succeeded, at %d', async (calls, limit) => {
    const subject = queueOf({ ceiling: 32 });
    for (let i = 0; i < calls; i++) void subject.turn('background read');
    await settle();
    subject.end('background read', 'succeeded', performance.now());
    expect(subject.limit).toBe(limit);
  });

  it('ends a wait that takes too long', async () => {
    const subject = queueOf({ ceiling: 1 });
    void subject.turn('foreground read');
    const order = requestTurns(subject, [
      ['a', 'foreground read'],
      ['b', 'background read'],
    ]);
    await jest.advanceTimersByTimeAsync(WAIT_MS + 1);
    expect(order).toEqual(['a timed_out', 'b timed_out']);
    expect(subject.queued('foreground') + subject.queued('background')).toBe(0);
    subject.end('foreground read', 'unknown', performance.now());
    expect(subject.inFlight).toBe(0);
  });

  it('cancels a waiting call when its signal aborts or its priority is dismissed', async () => {
    const subject = queueOf({ ceiling: 1 });
    void subject.turn('foreground read');
    const controller = new AbortController();
    const turns: Turn[] = [];
    void subject.turn('foreground read', controller.signal).then((turn) => turns.push(turn));
    void subject.turn('background read').then((turn) => turns.push(turn));
    controller.abort();
    subject.dismiss('background');
    await settle();
    expect(turns).toEqual(['cancelled', 'cancelled']);
  });

  it('spaces calls by its ceiling of requests per second', async () => {
    const subject = queueOf({ ceiling: 1_000, perSecond: 50 });
    const order = requestTurns(
      subject,
      Array.from({ length: 200 }, (_, i): [string, CallClass] => [`${i}`, 'foreground read']),
    );
    const keepAdmitting = setInterval(
      () => subject.inFlight > 0 && subject.end('foreground read', 'succeeded', performance.now()),
      1,
    );
    await jest.advanceTimersByTimeAsync(900);
    clearInterval(keepAdmitting);
    expect(order.length).toBeGreaterThanOrEqual(45);
    expect(order.length).toBeLessThanOrEqual(52);
  });

  it('admits a waiting call before a new one, when the token that it waits for becomes valid', async () => {
    const subject = new CallQueue(4, new RequestBudget(100, () => Promise.resolve(5)), WAIT_MS);
    const order: string[] = [];
    const request = (name: string) =>
      void subject.turn('foreground read').then((turn) => order.push(`${name} ${turn}`));
    // This timer precedes that of the queue.
    setTimeout(() => request('new'), 5);
    request('waiting');
    await jest.advanceTimersByTimeAsync(5);
    expect(order).toEqual(['waiting granted']);
  });

  it('admits 10,000 waiting calls in order of arrival', async () => {
    const subject = queueOf({ ceiling: 1 });
    void subject.turn('foreground read');
    const names = Array.from({ length: 10_000 }, (_, i): [string, CallClass] => [`${i}`, 'background read']);
    const order = requestTurns(subject, names);
    for (let i = 0; i < names.length; i++)
      subject.end(i === 0 ? 'foreground read' : 'background read', 'unknown', performance.now());
    await settle();
    expect(order).toEqual(names.map(([name]) => name));
  });
});
