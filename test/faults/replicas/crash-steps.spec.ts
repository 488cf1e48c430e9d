import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { READ_STEPS, SAVED_STEP } from '../support/crash-points.js';
import { AT_ONCE, CrashingReplicas, withLateEvents, type Crash } from '../support/crashes.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { NOTHING_FOUND } from '../support/evidence/session-oracle.js';

let crashing: CrashingReplicas;
beforeEach(async () => {
  crashing = await CrashingReplicas.start();
});
afterEach(() => crashing.close());

const STEPS = isLong ? READ_STEPS : (['before commit', 'after commit'] as const);

describe('R2: a crash at any step of a read is safe', () => {
  it('when replicas are killed at all of them', async () => {
    const ids = await crashing.seed(STEPS.length * AT_ONCE);
    await Promise.all(
      STEPS.map((step, index) =>
        crashing.crashReading({ step }, ids.slice(index * AT_ONCE, (index + 1) * AT_ONCE)),
      ),
    );
    expect(await crashing.converge(ids)).toEqual(NOTHING_FOUND);
    for (const id of ids) await crashing.replicas.sandbox.control.online(id, { inverters: 1 });
    const findings = await crashing.converge(ids);
    const { lost, doubled } = findings;
    promise('R2', {
      figure: `${ids.length} reads killed at ${STEPS.length} steps: ${lost.length} lost, ${doubled.length} doubled`,
      bound: '0 lost, 0 doubled',
    });
    expect(findings).toEqual(NOTHING_FOUND);
    expect(await crashing.countEvents()).toEqual({
      'session.awaiting_installation': ids.length,
      'session.online': ids.length,
      'inverter.online': ids.length,
    });
  });

  itAtLength('turns red when an event is written after the commit of its fact', async () => {
    const ids = await crashing.seed(AT_ONCE);
    await crashing.crashReading(withLateEvents({ step: 'after commit' }), ids);
    expect((await crashing.converge(ids)).lost).toHaveLength(ids.length);
  });
});

interface Saved {
  readonly what: string;
  posts(): Promise<(readonly [path: string, body?: object])[]>;
  /** The number of requests that reach the step before the replica is killed. */
  readonly standing: number;
  readonly table: string;
  readonly event: string;
}

const each = <T>(make: (index: number) => T): T[] =>
  Array.from({ length: AT_ONCE }, (_, index) => make(index));

const SAVED: readonly Saved[] = [
  {
    what: 'registrations',
    posts: () =>
      Promise.resolve(
        each((index) => {
          const body = { tenantReference: `saved-${index}`, gridLocations: [{ ean: '376104250021234569' }] };
          return ['/users', body] as const;
        }),
      ),
    standing: 1,
    table: 'users',
    event: 'user.registered',
  },
  {
    what: 'starts',
    posts: () =>
      Promise.all(each(async () => [`/onboarding/pv/${await crashing.survivor.locate()}`, {}] as const)),
    standing: AT_ONCE,
    table: 'onboarding_sessions',
    event: 'session.started',
  },
];

describe.each(SAVED)('R2: a crash after $what were saved is safe', (saved) => {
  const crash: Crash = { step: SAVED_STEP };

  /** Returns the number of saved rows, and the number of those that do not have exactly one event. */
  async function countSaved(how: Crash): Promise<{ count: number; wrong: number }> {
    await crashing.crashPosting(how, await saved.posts(), saved.standing);
    const [counts] = await crashing.database.query<{ count: number; wrong: number }>(
      `SELECT count(*)::int AS count, count(*) FILTER (WHERE events <> 1)::int AS wrong
       FROM (SELECT (SELECT count(*) FROM domain_events e WHERE e.name = $1 AND e.subject = saved.id::text) AS events
               FROM ${saved.table} AS saved) AS counted`,
      [saved.event],
    );
    return counts!;
  }

  it('when a replica is killed before it can respond', async () => {
    const { count, wrong } = await countSaved(crash);
    promise('R2', {
      figure: `${count} ${saved.what} killed at "${SAVED_STEP}": ${wrong} without their one event`,
      bound: '0',
    });
    expect(count).toBeGreaterThan(0);
    expect(wrong).toBe(0);
  });

  itAtLength('turns red when the event is written after the commit', async () => {
    const { count, wrong } = await countSaved(withLateEvents(crash));
    expect(count).toBeGreaterThan(0);
    expect(wrong).toBe(count);
  });
});
