import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SandboxUser } from '../../setup/sandbox-control.js';
import { waitFor } from '../../setup/wait-for.js';
import { READ_STEPS } from '../support/crash-points.js';
import { AT_ONCE, CrashingReplicas, type Crash } from '../support/crashes.js';
import { countStarts, startAtLast } from '../support/evidence/lost-starts.js';
import { promise } from '../support/promise.js';
import { contradictions, readRegistrations } from '../support/evidence/registration-ledger.js';
import { repeat } from '../support/replicas.js';
import { NOTHING_FOUND } from '../support/evidence/session-oracle.js';

/** Number of replicas that are killed, each with AT_ONCE calls at the step. */
const KILLED = 4;
const CALLS = KILLED * AT_ONCE;
const EAN = '376104250021234569';

let crashing: CrashingReplicas;
beforeEach(async () => {
  crashing = await CrashingReplicas.start();
});
afterEach(() => crashing.close());

const report = (step: string, what: string, result: string): void =>
  promise('R2', { figure: `${CALLS} ${what} killed at "${step}": ${result}`, bound: '0 lost, 0 doubled' });

const shareOf = <T>(all: readonly T[], nth: number): T[] => all.slice(nth * AT_ONCE, (nth + 1) * AT_ONCE);

describe.each(READ_STEPS)('R2: a crash at the step "%s" is safe', (step) => {
  it(`in ${CALLS} reads for callers, and of a poller: nothing is lost, nothing doubled`, async () => {
    const ids = await crashing.seed(CALLS + AT_ONCE);
    const crashes: Crash['role'][] = [...Array.from({ length: KILLED }, () => 'api' as const), 'worker'];
    await Promise.all(crashes.map((role, nth) => crashing.crashReading({ step, role }, shareOf(ids, nth))));
    expect(await crashing.converge(ids)).toEqual(NOTHING_FOUND);
    for (const id of ids) await crashing.replicas.sandbox.control.online(id, { inverters: 1 });
    const findings = await crashing.converge(ids);
    const { lost, doubled } = findings;
    report(step, 'reads', `${lost.length} lost, ${doubled.length} doubled`);
    expect(findings).toEqual(NOTHING_FOUND);
    expect(await crashing.countEvents()).toEqual({
      'session.awaiting_installation': ids.length,
      'session.online': ids.length,
      'inverter.online': ids.length,
    });
  });
});

describe.each([
  { step: 'before POST', sessionsEach: 1 },
  { step: 'after POST before save', sessionsEach: 2 },
] as const)('R2: a crash at the step "$step" of a start is safe', ({ step, sessionsEach }) => {
  it(`in ${CALLS} starts: each is taken over, and no session is unknown`, async () => {
    const ids = await repeat(CALLS, () => crashing.survivor.locate());
    await Promise.all(
      Array.from({ length: KILLED }, (_, nth) =>
        crashing.crashPosting(
          { step, role: 'api' },
          shareOf(ids, nth).map((id) => [`/onboarding/pv/${id}`] as const),
        ),
      ),
    );
    await crashing.letLeasesRunOut();
    const responses = await Promise.all(ids.map((id) => startAtLast(crashing.survivor, id)));
    expect(responses.filter(({ body }) => body.startUrl !== null)).toHaveLength(CALLS);
    const ledger = await crashing.replicas.sandbox.control.ledger();
    const starts = await countStarts(crashing.database, ledger, ids);
    const unknown = starts.filter(({ effects, orphans }) => effects > 1 + orphans);
    report(
      step,
      'starts',
      `${unknown.length} lost, ${starts.filter(({ effects }) => effects > 2).length} doubled`,
    );
    expect(starts.filter(({ effects }) => effects !== sessionsEach)).toEqual([]);
    // The survivor cannot know whether the killed replica sent the call, so it records an orphan in both cases.
    expect(starts.filter(({ orphans }) => orphans !== 1)).toEqual([]);
    expect(await crashing.countEvents()).toEqual({ 'user.registered': CALLS, 'session.started': CALLS });
  });
});

describe.each([
  { step: 'before POST', effects: 0, decision: 'retry' },
  { step: 'after POST before save', effects: CALLS, decision: 'resolve' },
] as const)('R2: a crash at the step "$step" of a registration is safe', ({ step, effects, decision }) => {
  it(`in ${CALLS} registrations: none is sent again by itself, and all can be settled`, async () => {
    const { control } = crashing.replicas.sandbox;
    const references = Array.from({ length: CALLS }, (_, index) => `crash-${index}`);
    await Promise.all(
      Array.from({ length: KILLED }, (_, nth) =>
        crashing.crashPosting(
          { step, role: 'api' },
          shareOf(references, nth).map(
            (tenantReference) => ['/users', { tenantReference, gridLocations: [{ ean: EAN }] }] as const,
          ),
        ),
      ),
    );
    await waitForStatus('uncertain');
    expect((await control.ledger()).users).toHaveLength(effects);
    expect(await crashing.countEvents()).toEqual({ 'user.registration_uncertain': CALLS });

    await decide(decision, await control.users());
    await waitForStatus('registered');
    const ledger = await control.ledger();
    const found = contradictions(references, ledger, await readRegistrations(crashing.database));
    report(step, 'registrations', `${found.length} lost or doubled`);
    expect(found).toEqual([]);
    expect(ledger.requests['POST /api/v1/ssa/users']).toBe(CALLS);
  });

  const waitForStatus = (wanted: string) =>
    waitFor(`all are ${wanted}`, async () => {
      const rows = await readRegistrations(crashing.database);
      return rows.length === CALLS && rows.every(({ status }) => status === wanted);
    });

  /** Settles every registration, like a person who has checked the remote service. */
  async function decide(how: 'retry' | 'resolve', users: readonly SandboxUser[]): Promise<void> {
    for (const { id, tenantReference } of await readRegistrations(crashing.database)) {
      const confirmed = users.find((user) => user.tenantReference === tenantReference);
      await crashing.survivor.call('POST', `/registrations/${id}/${how}`, confirmed);
    }
  }
});
