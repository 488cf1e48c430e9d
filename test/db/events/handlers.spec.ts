import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Scope, type INestApplicationContext, type Type } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DomainEvent, EventName } from '../../../src/events/catalogue.rules.js';
import { OnEvent } from '../../../src/handlers/on-event.js';
import { retireHandlers, subscribeHandlers, touchHandlers } from '../../../src/handlers/handlers.sql.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { sequenceEvents } from '../../../src/events/sequence.sql.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { startTestProcess } from '../../setup/processes/test-process.js';
import { waitForLockWaits } from '../../faults/support/waits.js';
import { waitFor } from '../../setup/wait-for.js';
import { appendOnline, sessionEvent, startWorker } from './fixture.js';

const testDatabase = useTestDatabase();
const workers = new Set<INestApplicationContext>();

const database = testDatabase.open();

beforeEach(async () => {
  await database.query('TRUNCATE domain_events, webhook_endpoints CASCADE');
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all([...workers].map(stop));
});

async function start(...handlers: Type[]): Promise<INestApplicationContext> {
  const worker = await startWorker(testDatabase.url, handlers);
  workers.add(worker);
  return worker;
}

async function stop(worker: INestApplicationContext): Promise<void> {
  if (workers.delete(worker)) await worker.close();
}

const append = (subject: string, ...markers: string[]) => appendOnline(database, subject, ...markers);

const countPending = async () => {
  const rows = await database.query<{ handler: string; count: number }>(
    'SELECT handler, count(*)::int AS count FROM admin.event_deliveries GROUP BY handler ORDER BY handler',
  );
  return Object.fromEntries(rows.map(({ handler, count }) => [handler, count]));
};
const isNothingPending = async () => Object.keys(await countPending()).length === 0;
const waitForAll = () => waitFor('all deliveries', isNothingPending);
/** Ends the waits for retries. */
const skipBackoff = () =>
  database.query(
    `WITH skipped AS (UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 ms' WHERE status = 'pending')
     UPDATE webhook_subjects SET due_at = now() - interval '1 ms'`,
  );

type Online = DomainEvent<'session.online'>;

function newWitness() {
  const seen: string[] = [];
  @Injectable()
  class Witness {
    @OnEvent('session.online')
    store({ data }: Online) {
      seen.push(data.rule);
    }
  }
  return { Witness, seen };
}

describe('a handler', () => {
  it('is subscribed in the order of the names, so that replicas cannot deadlock', async () => {
    const [first, second] = [
      { name: 'a', events: [] },
      { name: 'b', events: [] },
    ];
    await subscribeHandlers(database, [first, second]);
    const other = await testDatabase.connect();
    await other.query('BEGIN');
    await other.query(`SELECT FROM webhook_endpoints WHERE handler = 'a' FOR UPDATE`);
    const subscribed = subscribeHandlers(database, [second, first]);
    await waitForLockWaits(database, 1);
    const free = await other.query('SELECT handler FROM webhook_endpoints FOR UPDATE SKIP LOCKED');
    await other.query('ROLLBACK');
    await subscribed;
    expect(free.rows.map(({ handler }: { handler: string }) => handler).sort()).toEqual(['a', 'b']);
  });

  it('gets each event that it listens to, in order and one at a time within a session', async () => {
    const seen: Online[] = [];
    let running = 0;
    let most = 0;
    @Injectable()
    class Mailer {
      @OnEvent('session.online')
      async welcome(event: Online) {
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        seen.push(event);
        running -= 1;
      }
    }
    await start(Mailer);
    const session = randomUUID();
    const markers = Array.from({ length: 150 }, (_, index) => String(index));
    for (const marker of markers.slice(0, 30)) await append(session, marker);
    await append(session, ...markers.slice(30));
    await waitForAll();

    expect(seen.map(({ data }) => data.rule)).toEqual(markers);
    expect(most).toBe(1);
    expect(seen[0]).toMatchObject({ name: 'session.online', subject: session, time: expect.any(Date) });
  });

  it('that throws gets the event again, before later ones of its session; other handlers and sessions do not wait', async () => {
    const seen: string[] = [];
    let isOpen = false;
    @Injectable()
    class Fragile {
      @OnEvent('session.online')
      store({ data }: Online) {
        seen.push(`fragile ${data.rule}`);
        if (data.rule === 'poison' && !isOpen) throw new Error('the shop is closed');
      }
    }
    @Injectable()
    class Sturdy {
      @OnEvent(['session.online', 'session.lost'])
      store({ data }: DomainEvent<'session.online' | 'session.lost'>) {
        seen.push(`sturdy ${data.rule}`);
      }
    }
    const worker = await start(Fragile, Sturdy);
    await append('s1', 'poison', 'after');
    await append('s2', 'other');
    const waitForFailure = (times: number) =>
      waitFor(`failure ${times} is written`, async () => {
        const failures = 'SELECT FROM webhook_deliveries WHERE attempts >= $1 AND last_error IS NOT NULL';
        return (await database.query(failures, [times])).length === 1;
      });
    await waitFor(
      'all but the poisoned session',
      async () => JSON.stringify(await countPending()) === '{"Fragile.store":2}',
    );
    await waitForFailure(1);
    expect(seen).toEqual(
      expect.arrayContaining(['sturdy poison', 'sturdy after', 'sturdy other', 'fragile other']),
    );
    expect(
      await database.query('SELECT attempts, last_error FROM admin.event_deliveries WHERE attempts > 0'),
    ).toEqual([{ attempts: expect.any(Number), last_error: 'Error: the shop is closed' }]);
    const rows = await database.query<object>('SELECT * FROM admin.event_handlers ORDER BY handler');
    const aTime = expect.any(Date);
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['Fragile.store', ['session.online'], aTime, '2', 1, aTime],
      ['Sturdy.store', ['session.online', 'session.lost'], aTime, '0', 0, null],
    ]);

    await skipBackoff();
    await waitForFailure(2);
    isOpen = true;
    await waitFor('all deliveries', async () => {
      await skipBackoff();
      return isNothingPending();
    });
    const retried = seen.filter((entry) => /fragile (poison|after)/.test(entry));
    expect(retried.join()).toMatch(/^(fragile poison,){3,}fragile after$/);
    const text = await worker.get(Metrics).read();
    const counted = /handler_deliveries_total\{handler="(.+)",outcome="(.+)"\} (\d+)/g;
    expect(Array.from(text.matchAll(counted), ([, ...sample]) => sample.join(' ')).sort()).toEqual([
      'Fragile.store delivered 3',
      `Fragile.store failed ${retried.length - 2}`,
      'Sturdy.store delivered 3',
    ]);
  });

  it('is retried after about 3 s, then later each time', async () => {
    @Injectable()
    class Broken {
      @OnEvent('session.online')
      store() {
        throw new Error('no');
      }
    }
    await start(Broken);
    await append('s1', 'first');
    const waits: number[] = [];
    for (let failures = 1; failures <= 3; failures++) {
      const [subject] = await waitFor(`failure ${failures}`, async () => {
        const rows = await database.query<{ wait: number }>(
          `SELECT extract(epoch FROM due_at - last_attempt_at)::float8 AS wait
           FROM webhook_subjects JOIN webhook_deliveries USING (endpoint_id, subject) WHERE attempts = $1`,
          [failures],
        );
        return rows.length === 1 && rows;
      });
      waits.push(subject!.wait);
      await skipBackoff();
    }
    expect(waits.map((wait) => wait > 1 && wait < 23)).toEqual([true, true, true]);
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
  });

  it('misses no event that is appended just as it has handled another', async () => {
    const { Witness, seen } = newWitness();
    await start(Witness);
    const markers = Array.from({ length: 100 }, (_, index) => String(index));
    for (const marker of markers) {
      await append('s1', marker);
      // Stops waiting at random, so that some events are appended before the previous event is delivered.
      await waitFor('the delivery', () => seen.at(-1) === marker || Math.random() < 0.2);
    }
    await waitForAll();
    expect(seen).toEqual(markers);
  });
});

describe('a worker', () => {
  it('repeats the delivery of a worker that was killed between the effect of the handler and the end of the delivery', async () => {
    await database.query('CREATE TABLE effects (id bigserial, marker text)');
    const run = (environment: Record<string, string>) =>
      startTestProcess('test/db/events/worker.process.ts', {
        DATABASE_URL: testDatabase.url,
        ...environment,
      });
    const killed = await run({ KILL_AT: 'second' });
    await append('s1', 'first', 'second', 'third');
    expect((await killed.exited).signal).toBe('SIGKILL');
    expect(await countPending()).toEqual({ 'Recorder.record': 2 });

    // Expires the lease of the killed worker.
    await database.query(`UPDATE webhook_endpoints SET lease_until = clock_timestamp() - interval '1 ms'`);
    const next = await run({});
    await waitForAll();
    await next.stop();
    const effects = await database.query<{ marker: string }>('SELECT marker FROM effects ORDER BY id');
    expect(effects.map(({ marker }) => marker)).toEqual(['first', 'second', 'second', 'third']);
  });

  it('that lost its lease to another stops after the current event and leaves the lease unchanged', async () => {
    const seen: string[] = [];
    const token = randomUUID();
    @Injectable()
    class Slow {
      @OnEvent('session.online')
      async store({ data }: Online) {
        seen.push(data.rule);
        // Simulates that this process pauses for a minute and another worker claims the handler.
        await database.query('UPDATE webhook_endpoints SET lease_token = $1', [token]);
        const { now } = performance;
        jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 60_000);
      }
    }
    const worker = await start(Slow);
    await append('s1', 'first', 'second');
    await waitFor('the first delivery', async () => (await countPending())['Slow.store'] === 1);
    await stop(worker);
    expect(seen).toEqual(['first']);
    expect(await database.query('SELECT lease_token FROM webhook_endpoints')).toEqual([
      { lease_token: token },
    ]);
  });

  it('of an earlier release leaves an event to which only a newer one listens, and drops it once none does', async () => {
    const { Witness, seen } = newWitness();
    await start(Witness);
    const release = (...events: EventName[]) =>
      subscribeHandlers(database, [{ name: 'Witness.store', events }]);
    await release('session.online', 'session.lost');
    await database.transaction((tx) => appendEvents(tx, [sessionEvent('session.lost', 's1')]));
    const refused = `SELECT FROM admin.event_deliveries WHERE last_error LIKE '%newer release of Witness.store%'`;
    await waitFor('the refusal', async () => (await database.query(refused)).length === 1);
    await release('session.online');
    await waitFor('the drop', async () => {
      await skipBackoff();
      return isNothingPending();
    });
    expect(seen).toEqual([]);
  });

  it('that stops finishes the current event and releases its lease at once', async () => {
    const seen: string[] = [];
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    @Injectable()
    class Slow {
      @OnEvent('session.online')
      async store({ data }: Online) {
        seen.push(data.rule);
        await held;
      }
    }
    const worker = await start(Slow);
    await append('s1', 'first', 'second');
    await waitFor('the first', () => seen.length === 1);
    const closed = stop(worker);
    release();
    await closed;
    expect(seen).toEqual(['first']);
    expect(await countPending()).toEqual({ 'Slow.store': 1 });
    const state = `SELECT attempts, lease_token, webhook_endpoints.due_at <= now() AS due
      FROM webhook_endpoints JOIN webhook_deliveries ON endpoint_id = webhook_endpoints.id WHERE status = 'pending'`;
    expect(await database.query(state)).toEqual([{ attempts: 0, lease_token: null, due: true }]);
  });

  it('calls no handler with ROLE api', async () => {
    @Injectable()
    class Witness {
      @OnEvent('session.online')
      store() {
        throw new Error('not here');
      }
    }
    workers.add(await startWorker(testDatabase.url, [Witness], { ROLE: 'api' }));
    await append('s1', 'first');
    await sleep(50);
    expect(await countPending()).toEqual({ 'Witness.store': 1 });
  });
});

describe('the start', () => {
  it('refuses an unknown event', async () => {
    const mistyped = 'session.onlin' as 'session.online';
    class Typo {
      @OnEvent(['session.lost', mistyped])
      store() {}
    }
    await expect(start(Typo)).rejects.toThrow('@OnEvent Typo.store: there is no event session.onlin');
  });

  it('refuses a handler without an event', async () => {
    class Idle {
      @OnEvent([])
      store() {}
    }
    await expect(start(Idle)).rejects.toThrow('@OnEvent Idle.store: it names no event');
  });

  it('refuses two handlers of the same name', async () => {
    class One {
      @OnEvent('session.online', { handler: 'mail' })
      store() {}
    }
    class Two {
      @OnEvent('session.online', { handler: 'mail' })
      store() {}
    }
    await expect(start(One, Two)).rejects.toThrow('@OnEvent mail: two handlers have this name');
  });

  it('refuses a request-scoped handler', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {
      @OnEvent('session.online')
      store() {}
    }
    await expect(start(PerRequest)).rejects.toThrow(
      '@OnEvent PerRequest.store: the provider must not be request-scoped',
    );
  });

  it('is followed by what was appended before it, if the handler is known', async () => {
    const { Witness, seen } = newWitness();
    await append('s1', 'before');
    await (await startWorker(testDatabase.url, [Witness])).close();
    await append('s1', 'first');
    await start(Witness);
    await waitForAll();
    expect(seen).toEqual(['first']);
  });
});

describe('a handler that no release has had for 7 days', () => {
  it('is deleted with its deliveries', async () => {
    class Old {
      @OnEvent('session.online')
      store() {}
    }
    await (await startWorker(testDatabase.url, [Old], { ROLE: 'api' })).close();
    await append('s1', 'first', 'second');
    await database.transaction((tx) => appendEvents(tx, [sessionEvent('session.lost', 's1')]));
    expect(await retireHandlers(database)).toEqual([]);
    await sequenceEvents(database);
    await database.query(
      `INSERT INTO webhook_deliveries (endpoint_id, position, subject, status, next_attempt_at)
       SELECT h.id, e.position, e.subject, s.status, s.next_attempt_at FROM webhook_endpoints h, domain_events e
         JOIN (VALUES ('first', 'pending', now()), ('second', 'delivered', NULL)) s (rule, status, next_attempt_at) ON e.data ->> 'rule' = s.rule`,
    );
    const age = (days = 8) =>
      database.query(`UPDATE webhook_endpoints SET seen_at = now() - $1 * interval '1 day'`, [days]);
    const subscribeAgain = () =>
      subscribeHandlers(database, [{ name: 'Old.store', events: ['session.online'] }]);
    for (const see of [subscribeAgain, () => touchHandlers(database, ['Old.store'])]) {
      await age();
      await see();
      expect(await retireHandlers(database)).toEqual([]);
    }
    await age(6);
    expect(await retireHandlers(database)).toEqual([]);
    await age();
    await touchHandlers(database, ['Another.store']);
    expect(await retireHandlers(database)).toEqual([{ name: 'Old.store', pending: 3 }]);
    expect(await database.query('SELECT FROM webhook_endpoints')).toEqual([]);
  });
});
