import { randomUUID } from 'node:crypto';
import { Injectable, Scope, type INestApplicationContext, type Type } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DomainEvent } from '../../../src/events/catalogue.rules.js';
import { OnEvent } from '../../../src/events/handlers/on-event.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { retireHandlers, subscribeHandlers } from '../../../src/events/handlers/handlers.sql.js';
import { Database, type Transaction } from '../../../src/platform/database/database.js';
import { RunningJob } from '../../../src/platform/jobs/running-job.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import { startTestProcess } from '../../setup/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { appendOnline, sessionEvent, startWorker } from './fixture.js';

let testDatabase: TestDatabase;
let database: Database;
const workers = new Set<INestApplicationContext>();

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open();
});
afterAll(() => testDatabase.drop());
beforeEach(async () => {
  await database.query('TRUNCATE domain_events, event_handlers, graphile_worker._private_jobs CASCADE');
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

const owed = async () => {
  const rows = await database.query<{ handler: string; count: number }>(
    'SELECT handler, count(*)::int AS count FROM handler_deliveries GROUP BY handler ORDER BY handler',
  );
  return Object.fromEntries(rows.map(({ handler, count }) => [handler, count]));
};
const nothingOwed = () => waitFor('nothing owed', async () => Object.keys(await owed()).length === 0);

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
  it('gets each event it listens to, typed, and those of one session in order and one at a time', async () => {
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
    await nothingOwed();

    expect(seen.map(({ data }) => data.rule)).toEqual(markers);
    expect(most).toBe(1);
    expect(seen[0]).toMatchObject({ name: 'session.online', subject: session, time: expect.any(Date) });
  });

  it('that throws gets the same event again, before the later ones of its session; nobody else waits', async () => {
    const seen: string[] = [];
    let failures = 2;
    @Injectable()
    class Fragile {
      @OnEvent('session.online')
      store({ data }: Online) {
        seen.push(`fragile ${data.rule}`);
        if (data.rule === 'poison' && failures-- > 0) throw new Error('the shop is closed');
      }
    }
    @Injectable()
    class Sturdy {
      @OnEvent(['session.online', 'session.lost'])
      store({ data }: DomainEvent<'session.online' | 'session.lost'>) {
        seen.push(`sturdy ${data.rule}`);
      }
    }
    await start(Fragile, Sturdy);
    await append('s1', 'poison', 'after');
    await append('s2', 'other');
    await waitFor(
      'all but the poisoned session',
      async () => JSON.stringify(await owed()) === '{"Fragile.store":2}',
    );
    expect(seen).toEqual(
      expect.arrayContaining(['sturdy poison', 'sturdy after', 'sturdy other', 'fragile other']),
    );
    expect(
      await database.query('SELECT attempts, last_error FROM handler_deliveries WHERE attempts > 0'),
    ).toEqual([{ attempts: 1, last_error: 'Error: the shop is closed' }]);

    // Skips graphile-worker's backoff: 3 seconds here, 7 seconds below.
    await database.query('UPDATE graphile_worker._private_jobs SET run_at = now()');
    await waitFor('the second failure', () => failures === 0);
    await waitFor('the wait after it', async () => (await owed())['Fragile.store'] === 2);
    await database.query('UPDATE graphile_worker._private_jobs SET run_at = now()');
    await nothingOwed();
    expect(seen.filter((entry) => /fragile (poison|after)/.test(entry))).toEqual([
      'fragile poison',
      'fragile poison',
      'fragile poison',
      'fragile after',
    ]);
  });

  it('is retried from the shortest wait again after it got on', async () => {
    let failing = true;
    @Injectable()
    class Moody {
      @OnEvent('session.online')
      store({ data }: Online) {
        if (data.rule === 'second' && failing) throw new Error('no');
      }
    }
    await start(Moody);
    await database.query(
      `INSERT INTO graphile_worker._private_tasks (identifier) VALUES ('event:Moody.store') ON CONFLICT DO NOTHING`,
    );
    await database.transaction(async (tx) => {
      await appendEvents(tx, [
        sessionEvent('session.online', 's1', 'first'),
        sessionEvent('session.online', 's1', 'second'),
      ]);
      await tx.query('UPDATE graphile_worker._private_jobs SET attempts = 8');
    });
    const [job] = await waitFor('the failure', async () => {
      const jobs = await database.query<{ attempts: number; wait: number }>(
        `SELECT attempts, extract(epoch FROM run_at - now())::float AS wait FROM graphile_worker.jobs
         WHERE last_error IS NOT NULL AND locked_at IS NULL`,
      );
      return jobs.length === 1 && jobs;
    });
    expect(job?.attempts).toBe(1);
    expect(job?.wait).toBeLessThan(4);
    failing = false;
  });

  it('is not told twice at once of a session, nor left waiting, when an event comes while its job ends', async () => {
    const { Witness, seen } = newWitness();
    let appending: Promise<void> | undefined;
    const { finishWhen } = RunningJob.prototype;
    jest.spyOn(RunningJob.prototype, 'finishWhen').mockImplementation(function (this: RunningJob, isDone) {
      return finishWhen.call(this, async (tx: Transaction) => {
        const done = await isDone(tx);
        // The job has found no more deliveries. Appends an event before the job ends.
        if (done && appending === undefined) {
          appending = append('s1', 'late');
          await waitFor('the writer meets the job', async () => {
            const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
            return (await database.query(waiting)).length === 1;
          });
        }
        return done;
      });
    });
    await start(Witness);
    await append('s1', 'early');
    await nothingOwed();
    await waitFor('the late event', () => seen.length === 2);
    expect(seen).toEqual(['early', 'late']);
    await appending;
  });

  it('would be left waiting if a job ended without giving up its key first (seeded bug)', async () => {
    const { Witness, seen } = newWitness();
    jest.spyOn(RunningJob.prototype, 'finishWhen').mockImplementation(async (isDone) => {
      const done = await database.transaction(isDone);
      if (done && seen.at(-1) === 'early') await append('s1', 'late');
      return done;
    });
    // A worker adds missing jobs when it starts. The delivery of this event shows that the worker has added them.
    await subscribeHandlers(database, [{ name: 'Witness.store', events: ['session.online'] }]);
    await append('s0', 'before the start');
    await database.query('DELETE FROM graphile_worker._private_jobs');
    await start(Witness);
    const haveJobsEnded = async () => (await database.query('SELECT FROM graphile_worker.jobs')).length === 0;
    await waitFor('what was owed before the start', async () => seen.length === 1 && (await haveJobsEnded()));
    await append('s1', 'early');
    await waitFor('the end of the job', async () => seen.length === 2 && (await haveJobsEnded()));
    expect(await owed()).toEqual({ 'Witness.store': 1 });
  });

  it('misses nothing when events keep coming just as its job ends', async () => {
    const { Witness, seen } = newWitness();
    await start(Witness);
    const markers = Array.from({ length: 100 }, (_, index) => String(index));
    for (const marker of markers) {
      await append('s1', marker);
      // Stops waiting at random, so that some events are appended before the previous event is delivered.
      await waitFor('the delivery', () => seen.at(-1) === marker || Math.random() < 0.2);
    }
    await nothingOwed();
    expect(seen).toEqual(markers);
  });
});

describe('a worker', () => {
  it('that is killed between the effect of a handler and the end of the delivery repeats it', async () => {
    await database.query('CREATE TABLE effects (id bigserial, marker text)');
    const run = (environment: Record<string, string>) =>
      startTestProcess('test/db/events/worker.process.ts', {
        DATABASE_URL: testDatabase.url,
        ...environment,
      });
    const killed = await run({ KILL_AT: 'second' });
    await append('s1', 'first', 'second', 'third');
    expect((await killed.exited).signal).toBe('SIGKILL');
    expect(await owed()).toEqual({ 'Recorder.record': 2 });

    // Expires the lock of the killed worker.
    await database.query(`UPDATE graphile_worker._private_jobs SET locked_at = locked_at - interval '31 s'`);
    const next = await run({});
    await nothingOwed();
    await next.stop();
    const effects = await database.query<{ marker: string }>('SELECT marker FROM effects ORDER BY id');
    expect(effects.map(({ marker }) => marker)).toEqual(['first', 'second', 'second', 'third']);
  });

  it('that lost its job to another stops after the event in hand, and leaves the job alone', async () => {
    const seen: string[] = [];
    @Injectable()
    class Slow {
      @OnEvent('session.online')
      async store({ data }: Online) {
        seen.push(data.rule);
        // Simulates that this process pauses for a minute and another worker takes over the job.
        await database.query(`UPDATE graphile_worker._private_jobs SET locked_by = 'another'`);
        const { now } = performance;
        jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 60_000);
      }
    }
    const worker = await start(Slow);
    await append('s1', 'first', 'second');
    await waitFor('the first delivery', async () => (await owed())['Slow.store'] === 1);
    await stop(worker);
    expect(seen).toEqual(['first']);
    expect(await database.query('SELECT locked_by FROM graphile_worker.jobs')).toEqual([
      { locked_by: 'another' },
    ]);
  });

  it('that stops finishes the event in hand and gives the rest back at once', async () => {
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
    expect(await owed()).toEqual({ 'Slow.store': 1 });
    expect(
      await database.query('SELECT attempts, locked_by, run_at <= now() AS due FROM graphile_worker.jobs'),
    ).toEqual([{ attempts: 0, locked_by: null, due: true }]);
  });

  it('goes on when all its connections are lost, whatever it was doing', async () => {
    const { Witness, seen } = newWitness();
    await start(Witness);
    const markers = Array.from({ length: 40 }, (_, index) => String(index));
    for (const marker of markers) {
      await append(`s${Number(marker) % 4}`, marker);
      await waitFor('some moment of the delivery', () => Math.random() < 0.5);
      await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'pv-onboarding worker%'`);
    }
    // Skips the backoff of failed attempts.
    await waitFor(
      'nothing owed',
      async () => {
        await database.query(
          'UPDATE graphile_worker._private_jobs SET run_at = now() WHERE locked_at IS NULL',
        );
        return Object.keys(await owed()).length === 0;
      },
      30_000,
    );
    expect(new Set(seen)).toEqual(new Set(markers));
  }, 60_000);

  it('of ROLE api takes no jobs', async () => {
    @Injectable()
    class Witness {
      @OnEvent('session.online')
      store() {
        throw new Error('not here');
      }
    }
    workers.add(await startWorker(testDatabase.url, [Witness], { ROLE: 'api' }));
    await append('s1', 'first');
    // Excludes the connection on which every role listens for new events.
    const connections = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'
      AND application_name <> 'pv-onboarding listen'`;
    expect(await database.query(connections)).toEqual([]);
    expect(await owed()).toEqual({ 'Witness.store': 1 });
  });
});

describe('the start', () => {
  it('refuses an event that there is not', async () => {
    class Typo {
      @OnEvent('session.onlin' as 'session.online')
      store() {}
    }
    await expect(start(Typo)).rejects.toThrow('@OnEvent Typo.store: there is no event session.onlin');
  });

  it('refuses two handlers of one name', async () => {
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

  it('refuses a handler of which there is one per request', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {
      @OnEvent('session.online')
      store() {}
    }
    await expect(start(PerRequest)).rejects.toThrow(
      '@OnEvent PerRequest.store: the provider must not be request-scoped',
    );
  });

  it('adds a job for what is owed and has none', async () => {
    const { Witness, seen } = newWitness();
    await (await startWorker(testDatabase.url, [Witness])).close();
    await append('s1', 'first');
    await database.query('DELETE FROM graphile_worker._private_jobs');
    await start(Witness);
    await nothingOwed();
    expect(seen).toEqual(['first']);
  });
});

describe('a handler that no release has had for 7 days', () => {
  it('is owed nothing any more', async () => {
    class Old {
      @OnEvent('session.online')
      store() {}
    }
    workers.add(await startWorker(testDatabase.url, [Old], { ROLE: 'api' }));
    await append('s1', 'first', 'second');
    expect(await retireHandlers(database)).toEqual([]);
    await database.query(`UPDATE event_handlers SET seen_at = now() - interval '8 days'`);
    expect(await retireHandlers(database)).toMatchObject([{ name: 'Old.store', pending: 2 }]);
    for (const table of ['event_handlers', 'handler_deliveries', 'graphile_worker.jobs']) {
      expect(await database.query(`SELECT FROM ${table}`)).toEqual([]);
    }
  });
});
