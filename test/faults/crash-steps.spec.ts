import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { READ_STEPS, SAVED_STEP } from './support/crash-points.js';
import { AT_ONCE, CrashingReplicas, withLateEvents, type Crash } from './support/crashes.js';
import { caught, promise } from './support/promise.js';
import { NOTHING_FOUND } from './support/session-oracle.js';

jest.setTimeout(120_000);

let crashing: CrashingReplicas;
beforeEach(async () => {
  crashing = await CrashingReplicas.start();
});
afterEach(() => crashing.close());

// The steps around a POST, and each step many times over, are in crash-steps.long.spec.ts.
describe('R2: a crash at any step of a read is safe', () => {
  it('when replicas are killed at all of them', async () => {
    const ids = await crashing.seed(READ_STEPS.length * AT_ONCE);
    await Promise.all(
      READ_STEPS.map((step, index) =>
        crashing.crashReading({ step, role: 'api' }, ids.slice(index * AT_ONCE, (index + 1) * AT_ONCE)),
      ),
    );
    expect(await crashing.converge(ids)).toEqual(NOTHING_FOUND);
    for (const id of ids) await crashing.replicas.sandbox.control.online(id, { inverters: 1 });
    const findings = await crashing.converge(ids);
    const { lost, doubled } = findings;
    promise('R2', {
      figure: `${ids.length} reads killed at ${READ_STEPS.length} steps: ${lost.length} lost, ${doubled.length} doubled`,
      bound: '0 lost, 0 doubled',
    });
    expect(findings).toEqual(NOTHING_FOUND);
    expect(await crashing.countEvents()).toEqual({
      'session.awaiting_installation': ids.length,
      'session.online': ids.length,
      'inverter.online': ids.length,
    });
  });

  it('turns red when an event is written after the commit of its fact', async () => {
    const ids = await crashing.seed(AT_ONCE);
    await crashing.crashReading(withLateEvents({ step: 'after commit', role: 'api' }), ids);
    expect((await crashing.converge(ids)).lost).toHaveLength(ids.length);
    caught('R2', 'an event written after the commit of its fact');
  });
});

describe('R2: a crash after a registration was saved is safe', () => {
  const saved: Crash = { step: SAVED_STEP, role: 'api' };
  const posts = Array.from({ length: AT_ONCE }, (_, index) => {
    const body = { tenantReference: `saved-${index}`, gridLocations: [{ ean: '376104250021234569' }] };
    return ['/users', body] as const;
  });

  /** How many users were saved, and how many of them have not exactly one event that says so. */
  async function countSaved(crash: Crash): Promise<{ users: number; wrong: number }> {
    // What several requests have to save is saved together, and the others wait for those that stand there.
    await crashing.crashPosting(crash, posts, 1);
    const [counts] = await crashing.database.query<{ users: number; wrong: number }>(
      `SELECT count(*)::int AS users, count(*) FILTER (WHERE events <> 1)::int AS wrong
       FROM (SELECT (SELECT count(*) FROM domain_events e WHERE e.name = 'user.registered' AND e.subject = u.id::text) AS events
               FROM users u) AS told`,
    );
    return counts!;
  }

  it('when a replica is killed before it can answer', async () => {
    const { users, wrong } = await countSaved(saved);
    promise('R2', {
      figure: `${users} registrations killed at "${SAVED_STEP}": ${wrong} without their one event`,
      bound: '0',
    });
    expect(users).toBeGreaterThan(0);
    expect(wrong).toBe(0);
  });

  it('turns red when the event is written after the commit', async () => {
    const { users, wrong } = await countSaved(withLateEvents(saved));
    expect(users).toBeGreaterThan(0);
    expect(wrong).toBe(users);
    caught('R2', 'user.registered written after the commit of its user');
  });
});
