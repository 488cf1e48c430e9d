import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { RunningJob } from '../../../platform/jobs/running-job.js';
import type { SendOutcome } from '../send/outcome.rules.js';
import type { Destination, WebhookSender } from '../send/sender.service.js';
import type { Message } from '../send/signature.js';
import { WebhookDelivery } from './delivery.service.js';
import { WebhookDrain } from './drain.js';
import type { WebhookDrainStore } from './drain.store.js';
import { planHealth, type Health } from './endpoint-health.rules.js';
import type { Attempt, DueDelivery } from './queue.sql.js';

const delivered: SendOutcome = { kind: 'delivered', status: 204, answer: null };
const failed: SendOutcome = { kind: 'failed', status: 500, error: '', answer: null, retryAfterMs: null };
const WELL = { failures: 0, failingSince: null, isReported: false, quietUntil: null };

function deliveryOf(subject: string, position: number): DueDelivery {
  return {
    deliveryId: subject + position,
    position: String(position),
    attempts: 0,
    earlyAttempts: 0,
    isEarly: false,
    id: subject + position,
    name: 'session.online',
    subject,
    time: new Date(),
    sequence: '1',
    data: {},
  } as unknown as DueDelivery;
}

/** Runs a drain with pending deliveries: their positions by subject. The test decides when the receiver responds. */
function drainOf(pending: Record<string, number[]>, before: Health = WELL) {
  const due = new Map(Object.entries(pending));
  const inFlight = new Map<string, (outcome: SendOutcome) => void>();
  const sent: string[] = [];
  const sentTo: string[] = [];
  let url = 'http://receiver.example/';
  const claims: string[][] = [];
  let isOpen = true;
  const writes: (() => void)[] = [];
  let areWritesPaused = false;
  let hasLock = true;
  const recorded: string[] = [];
  let onClose: () => unknown = () => {};
  let findClosed = () => {};
  const foundClosed = new Promise<void>((resolve) => (findClosed = resolve));
  const store = {
    findEndpoint: async () => {
      if (isOpen)
        return {
          destination: { url, headers: {}, secrets: [] },
          health: { ...before, now: new Date() },
        };
      findClosed();
      return null;
    },
    claim: async (_id: string, claimed: Iterable<string>) => {
      claims.push([...claimed]);
      const free = [...due].filter(([subject]) => !claims.at(-1)!.includes(subject));
      const deliveries = free.flatMap(([subject, [first]]) =>
        first === undefined ? [] : deliveryOf(subject, first),
      );
      return { deliveries, isThereMore: false, empty: [] };
    },
    readAgain: async (delivery: DueDelivery) => delivery,
    record: async (_id: string, health: Health, attempts: readonly Attempt[]) => {
      if (areWritesPaused) await new Promise<void>((resolve) => writes.push(resolve));
      recorded.push(...attempts.map(({ delivery }) => delivery.id));
      for (const { delivery, plan } of attempts)
        if (plan.status === 'pending') due.delete(delivery.subject);
        else due.get(delivery.subject)!.shift();
      const outcomes = attempts.map(({ outcome }) => outcome);
      const now = new Date();
      return {
        health: { ...planHealth(health, outcomes, now), now },
        isThereMore: [...due.values()].some((rest) => rest.length > 0),
        isMoved: attempts.some((attempt) => attempt.url !== url),
      };
    },
    finish: async () => null,
  };
  const sender = {
    open: () => ({ close: async () => onClose() }),
    sendOver: (_connections: unknown, destination: Destination, { id }: Message) => {
      sent.push(id);
      sentTo.push(destination.url);
      return new Promise<SendOutcome>((resolve) => inFlight.set(id, resolve));
    },
  };
  const drain = new WebhookDrain(
    'endpoint',
    store as unknown as WebhookDrainStore,
    sender as unknown as WebhookSender,
    { EVENT_SOURCE: '/test', WEBHOOK_RETRY_SCHEDULE_MS: [60_000] },
    {
      requireLock: async () => {
        if (!hasLock) throw new Error('the job is lost');
      },
    } as unknown as RunningJob,
    () => {},
  );
  const ended = drain.run();
  return {
    sent,
    sentTo,
    claims,
    recorded,
    ended,
    move: (to: string) => (url = to),
    /** Disables the endpoint, then waits until the drain has reacted. */
    close: async () => {
      isOpen = false;
      await foundClosed;
      await sleep(20);
    },
    loseLock: () => (hasLock = false),
    /** Makes the receiver respond while the connections are closed. */
    respondOnClose: (id: string, outcome: SendOutcome) =>
      (onClose = () => setImmediate(inFlight.get(id)!, outcome)),
    pauseWrites: () => (areWritesPaused = true),
    resumeWrites: () => {
      areWritesPaused = false;
      for (const write of writes.splice(0)) write();
    },
    /** Makes the receiver respond to a request, then waits until the drain has reacted. */
    respond: async (id: string, outcome: SendOutcome) => {
      inFlight.get(id)!(outcome);
      await sleep(20);
    },
    settle: () => sleep(20),
  };
}

const subjectsOf = (count: number): Record<string, number[]> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}-`, [n]]));

describe('a drain', () => {
  it('sends one delivery of each subject at a time, in order', async () => {
    const { sent, respond, settle, ended } = drainOf({ a: [1, 3], b: [2] });
    await settle();
    expect(sent).toEqual(['a1', 'b2']);
    await respond('a1', delivered);
    expect(sent).toEqual(['a1', 'b2', 'a3']);
    await respond('b2', delivered);
    await respond('a3', delivered);
    await ended;
  });

  it('sends no later delivery of a subject while one waits for a retry', async () => {
    const { sent, respond, settle, ended } = drainOf({ a: [1, 3], b: [2] });
    await settle();
    await respond('a1', failed);
    await respond('b2', delivered);
    await ended;
    expect(sent).toEqual(['a1', 'b2']);
  });

  it('claims no subject again until its attempt is recorded', async () => {
    const { sent, claims, respond, settle, ended, pauseWrites, resumeWrites } = drainOf({
      a: [1],
      b: [2, 3],
    });
    await settle();
    pauseWrites();
    await respond('a1', delivered);
    await respond('b2', delivered);
    expect(sent).toEqual(['a1', 'b2']);
    resumeWrites();
    await settle();
    expect(claims).toContainEqual(['b']);
    expect(sent).toEqual(['a1', 'b2', 'b3']);
    await respond('b3', delivered);
    await ended;
  });

  it('passes the subjects in flight to every claim', async () => {
    const { claims, respond, settle, ended } = drainOf({ a: [1, 3], b: [2, 4] });
    await settle();
    await respond('a1', delivered);
    expect(claims).toContainEqual(['b']);
    for (const id of ['b2', 'a3', 'b4']) await respond(id, delivered);
    await ended;
  });

  it('sends nothing in the quiet period of the endpoint', async () => {
    const quietUntil = new Date(Date.now() + 60_000);
    const { sent, ended } = drainOf(
      { a: [1] },
      { ...WELL, failures: 10, failingSince: new Date(), quietUntil },
    );
    await ended;
    expect(sent).toEqual([]);
  });

  it('waits in the quiet period for the requests in flight', async () => {
    const { sent, recorded, respond, settle, ended } = drainOf(subjectsOf(20));
    await settle();
    const [first, ...others] = [...sent];
    await respond(first!, { ...failed, retryAfterMs: 60_000 });
    for (const id of others) await respond(id, failed);
    await ended;
    expect(sent).toHaveLength(16);
    expect(recorded).toEqual(sent);
  });

  it('records a delivery that is confirmed while the drain breaks off', async () => {
    const { recorded, settle, ended, loseLock, respondOnClose } = drainOf({ a: [1] });
    await settle();
    respondOnClose('a1', delivered);
    loseLock();
    await expect(ended).rejects.toThrow('the job is lost');
    expect(recorded).toEqual(['a1']);
  });

  it('sends to the new URL as soon as it has recorded an attempt that went to the old one', async () => {
    const { sentTo, respond, settle, ended, move } = drainOf({ a: [1, 3] });
    await settle();
    move('http://other.example/');
    await respond('a1', delivered);
    expect(sentTo).toEqual(['http://receiver.example/', 'http://other.example/']);
    await respond('a3', delivered);
    await ended;
  });

  it('releases every subject that is not in flight once the endpoint is disabled', async () => {
    const { sent, respond, settle, ended, close } = drainOf(subjectsOf(20));
    await settle();
    expect(sent).toHaveLength(16);
    await close();
    for (const id of [...sent]) await respond(id, delivered);
    await ended;
    expect(sent).toHaveLength(16);
  });
});

describe('the drains of a process', () => {
  it('keep the next one of an endpoint, which begins while the connections of the one before are closed', async () => {
    let close = () => {};
    const closed = new Promise<void>((resolve) => (close = resolve));
    const store = {
      findEndpoint: async () => ({ destination: { url: '' }, health: { ...WELL, now: new Date() } }),
      claim: async () => ({ deliveries: [], isThereMore: false }),
      finish: async () => null,
    };
    let deliver!: (payload: unknown, job: unknown) => Promise<void>;
    const delivery = new WebhookDelivery(
      ...([
        { ROLE: 'worker' },
        {},
        {},
        store,
        { open: () => ({ close: () => closed }) },
        { counter: () => ({}) },
        { register: (_task: string, run: typeof deliver) => (deliver = run) },
      ] as unknown as ConstructorParameters<typeof WebhookDelivery>),
    );
    const payload = { endpointId: 'endpoint' };
    const first = deliver(payload, { requireLock: async () => {} });
    await sleep(20);
    void deliver(payload, { requireLock: () => new Promise(() => {}) });
    const next = delivery['drains'].get('endpoint');
    close();
    await first;
    expect(next).toBeDefined();
    expect(delivery['drains'].get('endpoint')).toBe(next);
  });
});
