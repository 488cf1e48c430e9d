import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CallQueue, type Turn } from './call-queue.js';
import type { CallClass } from '../outcome.rules.js';
import { RequestRate } from './request-rate.js';

const WAIT_MS = 1_000;

function queueOf({ ceiling = 4, perSecond = Infinity } = {}): CallQueue {
  return new CallQueue(ceiling, new RequestRate(() => perSecond), WAIT_MS);
}

/** Requests turns and returns the order in which they are granted. */
function ask(subject: CallQueue, names: readonly [string, CallClass][]): string[] {
  const order: string[] = [];
  for (const [name, priority] of names) {
    void subject.turn(priority).then((turn) => order.push(turn === 'granted' ? name : `${name} ${turn}`));
  }
  return order;
}

const settle = () => jest.advanceTimersByTimeAsync(0);

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('call queue', () => {
  it('admits no more than its limit at once, and the next when one ends', async () => {
    const subject = queueOf({ ceiling: 2 });
    const order = ask(subject, [
      ['a', 'foreground read'],
      ['b', 'foreground read'],
      ['c', 'foreground read'],
    ]);
    await settle();
    expect(order).toEqual(['a', 'b']);
    subject.end('foreground read', 'other', performance.now());
    await settle();
    expect(order).toEqual(['a', 'b', 'c']);
    expect(subject.inFlight).toBe(2);
  });

  it('keeps one place from background calls', async () => {
    const subject = queueOf({ ceiling: 3 });
    const order = ask(subject, [
      ['b1', 'background read'],
      ['b2', 'background read'],
      ['b3', 'background read'],
      ['f1', 'foreground read'],
    ]);
    await settle();
    expect(order).toEqual(['b1', 'b2', 'f1']);
  });

  it('admits background calls when it may admit only one at a time', async () => {
    expect(await queueOf({ ceiling: 1 }).turn('background read')).toBe('granted');
  });

  it('admits waiting foreground calls first, and a background call after eight of them', async () => {
    const subject = queueOf({ ceiling: 1 });
    void subject.turn('foreground read');
    const foreground = Array.from({ length: 10 }, (_, i): [string, CallClass] => [
      `f${i}`,
      'foreground read',
    ]);
    const order = ask(subject, [['b', 'background read'], ...foreground]);
    for (let i = 0; i < 11; i++) {
      subject.end(order.at(-1) === 'b' ? 'background read' : 'foreground read', 'other', performance.now());
      await settle();
    }
    expect(order).toEqual(['f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'b', 'f7', 'f8', 'f9']);
  });

  it('R44: gives each class its turns while all wait: 4, 3, 2 and 1 of 10', async () => {
    const subject = queueOf({ ceiling: 2 });
    const classes = ['foreground change', 'foreground read', 'background change', 'background read'] as const;
    await subject.turn('foreground change');
    await subject.turn('foreground change');
    const order = ask(
      subject,
      classes.flatMap((name) => Array.from({ length: 40 }, (): [string, CallClass] => [name, name])),
    );
    for (let i = 0; i < 92; i++) {
      subject.end(i < 2 ? 'foreground change' : (order[i - 2] as CallClass), 'other', performance.now());
      await settle();
    }
    const share = classes.map((name) => order.slice(2).filter((turn) => turn === name).length);
    expect(share).toEqual([36, 27, 18, 9]);
  });

  it('lets nobody wait longer than its bound', async () => {
    const subject = queueOf({ ceiling: 1 });
    void subject.turn('foreground read');
    const order = ask(subject, [
      ['a', 'foreground read'],
      ['b', 'background read'],
    ]);
    await jest.advanceTimersByTimeAsync(WAIT_MS + 1);
    expect(order).toEqual(['a timed_out', 'b timed_out']);
    expect(subject.queued('foreground') + subject.queued('background')).toBe(0);
    subject.end('foreground read', 'other', performance.now());
    expect(subject.inFlight).toBe(0);
  });

  it('sends away who waits with a signal, or waits when it stops', async () => {
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
    const order = ask(
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

  it('admits 10,000 that wait in the order they came', async () => {
    const subject = queueOf({ ceiling: 1 });
    void subject.turn('foreground read');
    const names = Array.from({ length: 10_000 }, (_, i): [string, CallClass] => [`${i}`, 'background read']);
    const order = ask(subject, names);
    for (let i = 0; i < names.length; i++)
      subject.end(i === 0 ? 'foreground read' : 'background read', 'other', performance.now());
    await settle();
    expect(order).toEqual(names.map(([name]) => name));
  });
});
