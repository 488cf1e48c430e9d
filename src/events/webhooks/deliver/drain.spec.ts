import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { RunningJob } from '../../../platform/jobs/running-job.js';
import type { SendOutcome } from '../send/outcome.rules.js';
import type { WebhookSender } from '../send/sender.service.js';
import type { Message } from '../send/signature.js';
import { WebhookDrain } from './drain.js';
import type { WebhookDrainStore } from './drain.store.js';
import type { Attempt, DueDelivery } from './queue.sql.js';

const delivered: SendOutcome = { kind: 'delivered', status: 204, answer: null };
const failed: SendOutcome = { kind: 'failed', status: 500, error: '', answer: null, retryAfterMs: null };
const WELL = { failures: 0, failingSince: null, quietUntil: null };

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
function drainOf(pending: Record<string, number[]>) {
  const due = new Map(Object.entries(pending));
  const inFlight = new Map<string, (outcome: SendOutcome) => void>();
  const sent: string[] = [];
  const claims: string[][] = [];
  let isOpen = true;
  const writes: (() => void)[] = [];
  let areWritesPaused = false;
  const store = {
    findEndpoint: async () =>
      isOpen
        ? {
            destination: { url: 'http://receiver.example/', headers: {}, secrets: [] },
            health: { ...WELL, now: new Date() },
          }
        : null,
    claim: async (_id: string, claimed: Iterable<string>) => {
      claims.push([...claimed]);
      const free = [...due].filter(([subject]) => !claims.at(-1)!.includes(subject));
      const deliveries = free.flatMap(([subject, [first]]) =>
        first === undefined ? [] : deliveryOf(subject, first),
      );
      return { deliveries, isThereMore: false, empty: [] };
    },
    record: async (_id: string, health: unknown, attempts: readonly Attempt[]) => {
      if (areWritesPaused) await new Promise<void>((resolve) => writes.push(resolve));
      for (const { delivery, plan } of attempts)
        if (plan.status === 'pending') due.delete(delivery.subject);
        else due.get(delivery.subject)!.shift();
      return { health, isThereMore: [...due.values()].some((rest) => rest.length > 0) };
    },
    finish: async () => null,
  };
  const sender = {
    open: () => ({ close: async () => {} }),
    sendOver: (_connections: unknown, _destination: unknown, { id }: Message) => {
      sent.push(id);
      return new Promise<SendOutcome>((resolve) => inFlight.set(id, resolve));
    },
  };
  const drain = new WebhookDrain(
    'endpoint',
    store as unknown as WebhookDrainStore,
    sender as unknown as WebhookSender,
    { EVENT_SOURCE: '/test', WEBHOOK_RETRY_SCHEDULE_MS: [60_000] },
    { requireLock: async () => {} } as unknown as RunningJob,
    () => {},
  );
  const ended = drain.run();
  return {
    sent,
    claims,
    ended,
    close: () => (isOpen = false),
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
    settled: () => sleep(20),
  };
}

describe('a drain', () => {
  it('sends one of each subject at a time, those of a subject in order', async () => {
    const { sent, respond, settled, ended } = drainOf({ a: [1, 3], b: [2] });
    await settled();
    expect(sent).toEqual(['a1', 'b2']);
    await respond('a1', delivered);
    expect(sent).toEqual(['a1', 'b2', 'a3']);
    await respond('b2', delivered);
    await respond('a3', delivered);
    await ended;
  });

  it('sends nothing more of a subject whose first waits for a retry', async () => {
    const { sent, respond, settled, ended } = drainOf({ a: [1, 3], b: [2] });
    await settled();
    await respond('a1', failed);
    await respond('b2', delivered);
    await ended;
    expect(sent).toEqual(['a1', 'b2']);
  });

  it('claims no subject again until the result of its attempt is written', async () => {
    const { sent, claims, respond, settled, ended, pauseWrites, resumeWrites } = drainOf({
      a: [1],
      b: [2, 3],
    });
    await settled();
    pauseWrites();
    await respond('a1', delivered);
    await respond('b2', delivered);
    expect(sent).toEqual(['a1', 'b2']);
    resumeWrites();
    await settled();
    expect(claims).toContainEqual(['b']);
    expect(sent).toEqual(['a1', 'b2', 'b3']);
    await respond('b3', delivered);
    await ended;
  });

  it('passes the subjects in flight to every claim', async () => {
    const { claims, respond, settled, ended } = drainOf({ a: [1, 3], b: [2, 4] });
    await settled();
    await respond('a1', delivered);
    expect(claims).toContainEqual(['b']);
    for (const id of ['b2', 'a3', 'b4']) await respond(id, delivered);
    await ended;
  });

  it('releases all but what is in flight once the endpoint is disabled', async () => {
    const subjects = Array.from({ length: 20 }, (_, n) => [`s${n}-`, [n]] as const);
    const { sent, respond, settled, ended, close } = drainOf(
      Object.fromEntries(subjects.map(([subject, positions]) => [subject, [...positions]])),
    );
    await settled();
    expect(sent).toHaveLength(16);
    close();
    await sleep(1_100);
    for (const id of [...sent]) await respond(id, delivered);
    await ended;
    expect(sent).toHaveLength(16);
  });
});
