import { randomUUID } from 'node:crypto';
import { Injectable, Scope, type INestApplicationContext, type Type } from '@nestjs/common';
import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DomainEvent } from '../../../src/events/catalogue.rules.js';
import { OnEvent } from '../../../src/events/handlers/on-event.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { retireHandlers, subscribeHandlers } from '../../../src/events/handlers/handlers.sql.js';
import { Database, type Transaction } from '../../../src/platform/database/database.js';
import { RunningJob } from '../../../src/platform/jobs/running-job.js';
import { useTestDatabase } from '../../setup/test-database.js';
import { startTestProcess } from '../../setup/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { appendOnline, sessionEvent, startWorker } from './fixture.js';
import { inTime } from '../../faults/support/promise.js';

const testDatabase = useTestDatabase();
let database: Database;
const workers = new Set<INestApplicationContext>();

beforeAll(() => {
  database = testDatabase.open();
});
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

const countPending = async () => {
  const rows = await database.query<{ handler: string; count: number }>(
    'SELECT handler, count(*)::int AS count FROM handler_deliveries GROUP BY handler ORDER BY handler',
  );
  return Object.fromEntries(rows.map(({ handler, count }) => [handler, count]));
};
const isNothingPending = async () => Object.keys(await countPending()).length === 0;
const waitForAll = () => waitFor('all deliveries', isNothingPending);
/** Ends the waits of graphile-worker after failed attempts. */
const skipBackoff = () =>
  database.query('UPDATE graphile_worker._private_jobs SET run_at = now() WHERE locked_at IS NULL');

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
    await start(Fragile, Sturdy);
    await append('s1', 'poison', 'after');
    await append('s2', 'other');
    const waitForFailure = (times: number) =>
      waitFor(`failure ${times} is written`, async () => {
        const jobs = `SELECT FROM graphile_worker._private_jobs WHERE attempts >= $1 AND locked_at IS NULL`;
        return (await database.query(jobs, [times])).length === 1;
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
      await database.query('SELECT attempts, last_error FROM handler_deliveries WHERE attempts > 0'),
    ).toEqual([{ attempts: expect.any(Number), last_error: 'Error: the shop is closed' }]);

    await skipBackoff();
    await waitForFailure(2);
    isOpen = true;
    await waitFor('all deliveries', async () => {
      await skipBackoff();
      return isNothingPending();
    });
    const retried = seen.filter((entry) => /fragile (poison|after)/.test(entry));
    expect(retried.join()).toMatch(/^(fragile poison,){3,}fragile after$/);
  });

  it('is retried after the shortest wait again once it has handled an event', async () => {
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
    expect(job?.wait).toBeLessThan(inTime(4));
    failing = false;
  });

  it('gets an event that is appended while its job ends, after the earlier ones and once', async () => {
    const { Witness, seen } = newWitness();
    let appending: Promise<void> | undefined;
    const { finishWhen } = RunningJob.prototype;
    jest.spyOn(RunningJob.prototype, 'finishWhen').mockImplementation(function (this: RunningJob, isDone) {
      return finishWhen.call(this, async (tx: Transaction) => {
        const done = await isDone(tx);
        // The job has found no more deliveries. Appends an event before the job ends.
        if (done && appending === undefined) {
          appending = append('s1', 'late');
          await waitFor('the writer to wait for the job', async () => {
            const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
            return (await database.query(waiting)).length === 1;
          });
        }
        return done;
      });
    });
    await start(Witness);
    await append('s1', 'early');
    await waitForAll();
    await waitFor('the late event', () => seen.length === 2);
    expect(seen).toEqual(['early', 'late']);
    await appending;
  });

  it('would miss an event if its job ended without removing its key first (seeded bug)', async () => {
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
    await waitFor(
      'the event from before the start',
      async () => seen.length === 1 && (await haveJobsEnded()),
    );
    await append('s1', 'early');
    await waitFor('the end of the job', async () => seen.length === 2 && (await haveJobsEnded()));
    expect(await countPending()).toEqual({ 'Witness.store': 1 });
  });

  it('misses no event that is appended just as its job ends', async () => {
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

    // Expires the lock of the killed worker.
    await database.query(`UPDATE graphile_worker._private_jobs SET locked_at = locked_at - interval '31 s'`);
    const next = await run({});
    await waitForAll();
    await next.stop();
    const effects = await database.query<{ marker: string }>('SELECT marker FROM effects ORDER BY id');
    expect(effects.map(({ marker }) => marker)).toEqual(['first', 'second', 'second', 'third']);
  });

  it('that lost its job to another stops after the current event and leaves the job unchanged', async () => {
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
    await waitFor('the first delivery', async () => (await countPending())['Slow.store'] === 1);
    await stop(worker);
    expect(seen).toEqual(['first']);
    expect(await database.query('SELECT locked_by FROM graphile_worker.jobs')).toEqual([
      { locked_by: 'another' },
    ]);
  });

  it('that stops finishes the current event and releases its job at once', async () => {
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
    expect(
      await database.query('SELECT attempts, locked_by, run_at <= now() AS due FROM graphile_worker.jobs'),
    ).toEqual([{ attempts: 0, locked_by: null, due: true }]);
  });

  it('continues after all its connections are lost, whatever it was doing', async () => {
    const { Witness, seen } = newWitness();
    await start(Witness);
    const markers = Array.from({ length: 40 }, (_, index) => String(index));
    for (const marker of markers) {
      await append(`s${Number(marker) % 4}`, marker);
      await waitFor('some moment of the delivery', () => Math.random() < 0.5);
      await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'pv-onboarding worker%'`);
    }
    await waitFor('all deliveries', async () => {
      await skipBackoff();
      return isNothingPending();
    });
    expect(new Set(seen)).toEqual(new Set(markers));
  });

  it('runs no jobs with ROLE api', async () => {
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
    expect(await countPending()).toEqual({ 'Witness.store': 1 });
  });
});

describe('the start', () => {
  it('refuses an unknown event', async () => {
    class Typo {
      @OnEvent('session.onlin' as 'session.online')
      store() {}
    }
    await expect(start(Typo)).rejects.toThrow('@OnEvent Typo.store: there is no event session.onlin');
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

  it('adds the missing jobs of pending deliveries', async () => {
    const { Witness, seen } = newWitness();
    await (await startWorker(testDatabase.url, [Witness])).close();
    await append('s1', 'first');
    await database.query('DELETE FROM graphile_worker._private_jobs');
    await start(Witness);
    await waitForAll();
    expect(seen).toEqual(['first']);
  });
});

describe('a handler that no release has had for 7 days', () => {
  it('is deleted with its deliveries and jobs', async () => {
    class Old {
      @OnEvent('session.online')
      store() {}
    }
    await (await startWorker(testDatabase.url, [Old], { ROLE: 'api' })).close();
    await append('s1', 'first', 'second');
    expect(await retireHandlers(database)).toEqual([]);
    await database.query(`UPDATE event_handlers SET seen_at = now() - interval '8 days'`);
    expect(await retireHandlers(database)).toMatchObject([{ name: 'Old.store', pending: 2 }]);
    for (const table of ['event_handlers', 'handler_deliveries', 'graphile_worker.jobs']) {
      expect(await database.query(`SELECT FROM ${table}`)).toEqual([]);
    }
  });
});
