import { isDeepStrictEqual } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { FunnelStore } from '../../../src/invitations/funnel.store.js';
import type { FunnelView } from '../../../src/invitations/funnel.view.js';
import { INVITATION_CAUSES } from '../../../src/invitations/invitation.stall.rules.js';
import { SESSION_CAUSES } from '../../../src/onboarding/stalls/session.causes.rules.js';
import { StallTask } from '../../../src/stalls/stall-task.service.js';
import { DELETE_STALLS } from '../../../src/stalls/stalls.sql.js';
import { Database } from '../../../src/platform/database/database.js';
import { newEan } from '../../setup/ean.js';
import type { UserAnswer } from '../../setup/client.js';
import { waitFor } from '../../setup/wait-for.js';
import { changeStatement } from '../support/changed-statement.js';
import { behavioursOf, type Owner, type ReachedStep } from '../support/input/owners.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { repeat, startReplicas, type ReplicaOptions, type Replicas } from '../support/replicas.js';

/** The number of owners in the short test: enough for two owners of each behaviour. */
const FEW = 60;
const OWNERS = isLong ? 1_000 : FEW;
const WITHIN_MS = 900_000;
/**
 * Limits polling, so that mainly the actions of owners cause reads: polling a thousand sessions at the usual rate of the tests would take
 * most of the time.
 */
const RARE_READS = { ROLE: 'all', POLL_MIN_INTERVAL_MS: 60_000, POLL_MAX_INTERVAL_MS: 900_000 } as const;

type Counts = Readonly<Record<string, number>>;
interface Steps extends Record<ReachedStep, number> {
  invited: number;
}

/** The causes of invitations and sessions, and the list that filters by each. */
const CAUSES = [
  ...Object.keys(INVITATION_CAUSES).map((cause) => ({
    name: `invitation ${cause}`,
    cause,
    path: '/invitations',
  })),
  ...Object.keys(SESSION_CAUSES).map((cause) => ({
    name: `session ${cause}`,
    cause,
    path: '/onboarding/pv',
  })),
];

let replicas: Replicas;
afterEach(() => replicas.close());

/**
 * Invites owners and lets each act. Returns the expected counts and, once the service has counted everything, the counts of the service.
 */
async function populate(owners: number, prepare?: ReplicaOptions['prepare']) {
  replicas = await startReplicas({ count: 1, environment: RARE_READS, ...(prepare && { prepare }) });
  const client = replicas.clients[0]!;
  const behaviours = behavioursOf(replicas);
  const ledger: Steps = {
    invited: 0,
    sent: 0,
    opened: 0,
    started: 0,
    ownerDone: 0,
    online: 0,
    expired: 0,
    declined: 0,
  };
  const stalled = Object.fromEntries(CAUSES.map(({ name }) => [name, 0]));
  const countStalled = (kind: string, cause: string | undefined) => {
    if (cause !== undefined) stalled[`${kind} ${cause}`]!++;
  };
  let next = 0;
  await repeat(owners, async () => {
    const nth = next++;
    const { reached, invitation, session, act } = behaviours[nth % behaviours.length]!;
    const { body: user } = await client.call<UserAnswer>('POST', '/users', {
      tenantReference: `owner-${nth}`,
      gridLocations: [{ ean: newEan() }],
    });
    const { body: owner } = await client.call<Owner & Record<string, unknown>>('POST', '/invitations', {
      tenantReference: user.tenantReference,
    });
    ledger.invited++;
    for (const step of reached) ledger[step]++;
    countStalled('invitation', invitation);
    countStalled('session', session);
    await act(owner);
  });
  const funnel = async (): Promise<Counts> => {
    const items = await client.list<FunnelView>('/funnel');
    const sum = (step: keyof Steps) => items.reduce((total, item) => total + item[step], 0);
    return Object.fromEntries((Object.keys(ledger) as (keyof Steps)[]).map((step) => [step, sum(step)]));
  };
  const expected = { ...ledger, ...stalled };
  const count = async (): Promise<Counts> => {
    await replicas.apps[0]!.app.get(StallTask).run();
    return { ...(await funnel()), ...(await countOfStalled()) };
  };
  // A wrong count is never that of the ledger, so it is returned after this time.
  const isRight = async () => isDeepStrictEqual(await count(), expected);
  await waitFor('the counts of the ledger', isRight, 30_000).catch(() => {});
  return { ledger: expected, counted: await count() };
}

/** Counts the listed invitations and sessions by the cause of their stall. */
async function countOfStalled(): Promise<Counts> {
  const counts = CAUSES.map(async ({ name, cause, path }) => {
    const query = `${path}?stalled=${cause}&limit=200`;
    const items = await replicas.clients[0]!.list<object>(query);
    return [name, items.length] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

describe('R48: the funnel and the stalled count owners', () => {
  it(
    'as the ledger of a population of every behaviour',
    async () => {
      const { ledger, counted } = await populate(OWNERS);
      const numbers = Object.entries<number>(ledger);
      const wrong = numbers.filter(([name, number]) => counted[name] !== number);
      promise('R48', {
        figure: `${wrong.length} of ${numbers.length} numbers differ for ${OWNERS} owners`,
        bound: '0',
      });
      expect(counted).toEqual(ledger);
    },
    WITHIN_MS,
  );

  itAtLength('turns red when sessions are counted for owners', async () => {
    const { ledger, counted } = await populate(FEW, (app) => {
      const store = app.get(FunnelStore);
      const count = store.count.bind(store);
      store.count = async (by, from, to) => {
        const [{ sessions } = { sessions: 0 }] = await app
          .get(Database)
          .query<{ sessions: number }>('SELECT count(*)::int AS sessions FROM onboarding_sessions');
        return (await count(by, from, to)).map((item, index) => ({
          ...item,
          started: index === 0 ? sessions : 0,
        }));
      };
    });
    expect(counted.started).toBeGreaterThan(ledger.started);
  });

  itAtLength('turns red when a stall is not cleared once its evidence has gone', async () => {
    const { ledger, counted } = await populate(FEW, (app) =>
      changeStatement(app, DELETE_STALLS, 'WHERE', 'WHERE false AND'),
    );
    const { 'session started_not_completed': kept = 0 } = counted;
    expect(kept).toBeGreaterThan((ledger as Counts)['session started_not_completed']!);
  });
});
