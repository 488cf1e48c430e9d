import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { waitFor } from '../../test/setup/wait-for.js';
import { WakeUp } from '../platform/async/wake-up.js';
import type { WebhookAttemptsStore } from '../webhooks/send/attempts.store.js';
import { planHealth, type Health } from '../webhooks/send/endpoint-health.rules.js';
import { EndpointPlaces } from '../webhooks/send/endpoint-places.js';
import type { WebhookSender } from '../webhooks/send/sender.service.js';
import type { Message } from '../webhooks/send/signature.js';
import { WebhookOutlet } from '../webhooks/send/webhook-outlet.js';
import { Drain } from './drain.js';
import type { Attempt, DueDelivery } from './outlet.js';
import type { SendOutcome } from './delivery-plan.rules.js';
import type { DeliveryQueue } from './queue.store.js';

const delivered: SendOutcome = { kind: 'delivered' };
const failed: SendOutcome = { kind: 'failed' };
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
  const claims: string[][] = [];
  let isOpen = true;
  const writes: (() => void)[] = [];
  let areWritesPaused = false;
  let isCertain = true;
  const refused = new Set<string>();
  const stopping = new AbortController();
  const recorded: string[] = [];
  let onStop: () => unknown = () => {};
  let findClosed = () => {};
  const foundClosed = new Promise<void>((resolve) => (findClosed = resolve));
  const store = {
    findEndpoint: async () => {
      if (isOpen) return { ...before, now: new Date(), destination: {} };
      findClosed();
      return null;
    },
    record: async (_id: string, health: Health | null, attempts: readonly Attempt[]) => {
      if (areWritesPaused) await new Promise<void>((resolve) => writes.push(resolve));
      if (attempts.some(({ delivery }) => refused.has(delivery.id))) throw new Error('refused');
      recorded.push(...attempts.map(({ delivery }) => delivery.id));
      for (const { delivery, plan } of attempts)
        if (plan.status === 'pending') due.delete(delivery.subject);
        else due.get(delivery.subject)!.shift();
      const outcomes = attempts.map(({ outcome }) => outcome);
      const now = new Date();
      const endpoint = { ...planHealth(health ?? before, outcomes, now), now, destination: {} };
      return { endpoint, isThereMore: [...due.values()].some((rest) => rest.length > 0) };
    },
  };
  const queue = {
    take: async (_id: string, _token: string, claimed: Iterable<string>, limit: number) => {
      claims.push([...claimed]);
      const free = [...due].filter(([subject]) => !claims.at(-1)!.includes(subject));
      const deliveries = free
        .flatMap(([subject, [first]]) => (first === undefined ? [] : deliveryOf(subject, first)))
        .slice(0, limit);
      return { deliveries, isThereMore: deliveries.length === limit };
    },
    findNextDue: async () => null,
    patienceMs: 60_000,
    repeatUntil: async (step: () => Promise<boolean>) => void (await step()),
  };
  const sender = {
    send: (_destination: unknown, { id }: Message, stop: AbortSignal) => {
      sent.push(id);
      // One for each attempt in flight.
      setMaxListeners(0, stop);
      stop.addEventListener('abort', () => onStop());
      return new Promise<SendOutcome>((resolve) => inFlight.set(id, resolve));
    },
  };
  const outlet = new WebhookOutlet(
    'endpoint',
    store as unknown as WebhookAttemptsStore,
    sender as unknown as WebhookSender,
    new EndpointPlaces(),
    { EVENT_SOURCE: '/test', WEBHOOK_RETRY_SCHEDULE_MS: [60_000] },
    () => {},
  );
  const lease = { token: '', signal: stopping.signal, isCertain: () => isCertain };
  const drain = new Drain('endpoint', queue as unknown as DeliveryQueue, outlet, lease);
  const events = new WakeUp();
  const running = drain.run(events);
  return {
    events,
    sent,
    claims,
    recorded,
    /** Makes the database refuse to record attempts of these deliveries. */
    refuse: (...ids: readonly string[]) => ids.forEach((id) => refused.add(id)),
    accept: () => refused.clear(),
    running,
    /** Stops the drain. */
    end: async () => {
      stopping.abort();
      await running;
    },
    /** Disables the endpoint, then waits until the drain has reacted. */
    close: async () => {
      isOpen = false;
      await foundClosed;
      await sleep(20);
    },
    loseLease: () => (isCertain = false),
    /** Makes the receiver respond while the attempts in flight are aborted. */
    respondOnStop: (id: string, outcome: SendOutcome) =>
      (onStop = () => setImmediate(inFlight.get(id)!, outcome)),
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

afterEach(() => void jest.restoreAllMocks());

describe('a drain', () => {
  it('sends one delivery of each subject at a time, in order', async () => {
    const { sent, respond, settle, end } = drainOf({ a: [1, 3], b: [2] });
    await settle();
    expect(sent).toEqual(['a1', 'b2']);
    await respond('a1', delivered);
    expect(sent).toEqual(['a1', 'b2', 'a3']);
    await respond('b2', delivered);
    await respond('a3', delivered);
    await end();
  });

  it('sends no later delivery of a subject while one waits for a retry', async () => {
    const { sent, respond, settle, end } = drainOf({ a: [1, 3], b: [2] });
    await settle();
    await respond('a1', failed);
    await respond('b2', delivered);
    await end();
    expect(sent).toEqual(['a1', 'b2']);
  });

  it('claims no subject again until its attempt is recorded', async () => {
    const { sent, claims, respond, settle, end, pauseWrites, resumeWrites } = drainOf({
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
    await end();
  });

  it('claims at once when new events are signalled', async () => {
    // By a clock that stands still, nothing else makes a claim due.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    const { claims, events, settle, end } = drainOf({});
    await settle();
    expect(claims).toHaveLength(1);
    events.signal();
    await settle();
    expect(claims).toHaveLength(2);
    await end();
  });

  it('passes the subjects in flight to every claim', async () => {
    const { claims, respond, settle, end } = drainOf({ a: [1, 3], b: [2, 4] });
    await settle();
    await respond('a1', delivered);
    expect(claims).toContainEqual(['b']);
    for (const id of ['b2', 'a3', 'b4']) await respond(id, delivered);
    await end();
  });

  it('ends at once in the quiet period of the endpoint, and sends nothing', async () => {
    // Without an end at once, it would wait for ever by a clock that stands still.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    const quietUntil = new Date(Date.now() + 60_000);
    const { sent, running } = drainOf(
      { a: [1] },
      { ...WELL, failures: 10, failingSince: new Date(), quietUntil },
    );
    await running;
    expect(sent).toEqual([]);
  }, 20_000);

  it('waits in the quiet period for the requests in flight', async () => {
    const { sent, recorded, respond, settle, end } = drainOf(subjectsOf(20));
    await settle();
    const [first, ...others] = [...sent];
    await respond(first!, { ...failed, retryAfterMs: 60_000 });
    for (const id of others) await respond(id, failed);
    await end();
    expect(sent).toHaveLength(16);
    expect(recorded).toEqual(sent);
  });

  it('records a delivery that is confirmed while the drain breaks off', async () => {
    const { recorded, settle, running, loseLease, respondOnStop } = drainOf({ a: [1] });
    await settle();
    respondOnStop('a1', delivered);
    loseLease();
    await expect(running).rejects.toThrow('another process may have the lease');
    expect(recorded).toEqual(['a1']);
  });

  it('sends on while attempts cannot be recorded, in their places, but nothing of their subjects', async () => {
    const { sent, recorded, refuse, accept, respond, settle, end } = drainOf({
      ...Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`s${n}-`, [n, 100 + n]])),
      a: [50, 51],
      b: [60],
    });
    await settle();
    refuse('s0-0', 's1-1');
    for (const id of [...sent]) await respond(id, delivered);
    expect(sent).toEqual(expect.arrayContaining(['s2-102', 'a51', 'b60']));
    expect(sent).not.toContain('s0-100');
    expect(sent.filter((id) => id === 's0-0')).toHaveLength(1);
    expect(recorded).toEqual(expect.arrayContaining(['s2-2', 'a50']));
    accept();
    await waitFor('the refused attempts to be recorded', () => recorded.includes('s0-0'));
    await waitFor('the next of the subject', () => sent.includes('s0-100'));
    for (const id of sent) await respond(id, delivered);
    await end();
    expect(new Set(sent).size).toBe(sent.length);
  });

  it('sends nothing while no attempt can be recorded, and records them once it can', async () => {
    const { sent, recorded, refuse, accept, respond, settle, end } = drainOf(subjectsOf(40));
    await settle();
    refuse(...Object.entries(subjectsOf(40)).map(([subject, [position]]) => subject + position));
    for (let answered = 0; answered < sent.length; answered++) await respond(sent[answered]!, delivered);
    expect([sent.length < 40, recorded]).toEqual([true, []]);
    accept();
    await waitFor('them to be recorded', () => recorded.length >= 16);
    await end();
    expect(new Set(sent).size).toBe(sent.length);
  });

  it('releases every subject that is not in flight once the endpoint is disabled', async () => {
    const { sent, respond, settle, running, close } = drainOf(subjectsOf(20));
    await settle();
    expect(sent).toHaveLength(16);
    await close();
    for (const id of [...sent]) await respond(id, delivered);
    await running;
    expect(sent).toHaveLength(16);
  });
});
