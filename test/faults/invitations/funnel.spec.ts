import { afterEach, describe, expect, it } from '@jest/globals';
import { FunnelStore } from '../../../src/invitations/funnel.store.js';
import type { FunnelView } from '../../../src/invitations/funnel.view.js';
import { Database } from '../../../src/platform/database/database.js';
import { newEan } from '../../setup/ean.js';
import type { UserAnswer } from '../../setup/client.js';
import { waitFor } from '../../setup/wait-for.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { repeat, startReplicas, type ReplicaOptions, type Replicas } from '../support/replicas.js';

const OWNERS = isLong ? 1_000 : 60;

type Steps = Pick<FunnelView, 'invited' | 'opened' | 'started' | 'ownerDone' | 'online' | 'expired'>;
type Reached = Exclude<keyof Steps, 'invited'>;

interface Owner {
  readonly id: string;
  readonly url: string;
  readonly gridLocationId: string;
}

let replicas: Replicas;
afterEach(() => replicas.close());

/** What an owner does, and the steps that this reaches. */
function behavioursOf({ clients, sandbox, apps }: Replicas) {
  const client = clients[0]!;
  const click = ({ url }: Owner, brand = '') =>
    fetch(`${url}${brand && `?brand=${brand}`}`, { method: 'POST', redirect: 'manual' });
  const sessionOf = async ({ gridLocationId }: Owner, brand = '') => {
    const query = `gridLocationId=${gridLocationId}${brand && `&brand=${brand}`}&limit=1`;
    const { body } = await client.call<{ items: { id: string }[] }>('GET', `/onboarding/pv?${query}`);
    return body.items[0]!.id;
  };
  const read = (id: string) => client.call('POST', `/onboarding/pv/${id}/refresh`);
  const comeOnline = async (id: string) => {
    await sandbox.control.complete(id, { onlineAfterMs: null });
    await sandbox.control.online(id);
    await read(id);
  };
  const behaviours: readonly (readonly [
    reached: readonly Reached[],
    act: (owner: Owner) => Promise<unknown>,
  ])[] = [
    [[], async () => {}],
    [[], ({ url }) => fetch(url)],
    [['opened'], ({ url }) => fetch(url, { headers: { 'sec-fetch-user': '?1' } })],
    [['opened', 'started'], async (owner) => Promise.all([click(owner), click(owner)])],
    [
      ['opened', 'started'],
      async (owner) => {
        await click(owner);
        const id = await sessionOf(owner);
        await sandbox.control.expire(id);
        await read(id);
        await click(owner);
      },
    ],
    [
      ['opened', 'started', 'ownerDone'],
      async (owner) => {
        await click(owner);
        const id = await sessionOf(owner);
        await sandbox.control.complete(id, { onlineAfterMs: null });
        await read(id);
      },
    ],
    [
      ['opened', 'started', 'ownerDone', 'online'],
      async (owner) => {
        await click(owner);
        await comeOnline(await sessionOf(owner));
      },
    ],
    // The tenant's app has started the session, and nobody follows the link.
    [
      ['ownerDone', 'online'],
      async ({ gridLocationId }) => comeOnline((await client.start(gridLocationId)).body.id),
    ],
    [
      ['opened', 'started'],
      async (owner) => {
        await click(owner);
        await client.call('DELETE', `/invitations/${owner.id}`);
      },
    ],
    [
      ['opened', 'expired'],
      async ({ id, url }) => {
        await fetch(url, { headers: { 'sec-fetch-user': '?1' } });
        const text = `UPDATE invitations SET expires_at = now() WHERE id = $1`;
        await apps[0]!.app.get(Database).query(text, [id]);
      },
    ],
  ];
  return behaviours;
}

/** Invites a population, lets everybody act, and returns the ledger beside the funnel once it stays the same. */
async function populate(prepare?: ReplicaOptions['prepare']) {
  replicas = await startReplicas({ count: 1, environment: { ROLE: 'all' }, ...(prepare && { prepare }) });
  const client = replicas.clients[0]!;
  const behaviours = behavioursOf(replicas);
  const ledger: Steps = { invited: 0, opened: 0, started: 0, ownerDone: 0, online: 0, expired: 0 };
  const counts = ledger as Record<keyof Steps, number>;
  let next = 0;
  await repeat(OWNERS, async () => {
    const nth = next++;
    const [reached, act] = behaviours[nth % behaviours.length]!;
    const { body: user } = await client.call<UserAnswer>('POST', '/users', {
      tenantReference: `owner-${nth}`,
      gridLocations: [{ ean: newEan() }],
    });
    const { body: owner } = await client.call<Owner & Record<string, unknown>>('POST', '/invitations', {
      tenantReference: user.tenantReference,
    });
    counts.invited++;
    for (const step of reached) counts[step]++;
    await act(owner);
  });
  const funnel = async (): Promise<Steps> => {
    const { body } = await client.call<{ items: FunnelView[] }>('GET', '/funnel');
    const sum = (step: keyof Steps) => body.items.reduce((total, item) => total + item[step], 0);
    return {
      ...counts,
      ...Object.fromEntries((Object.keys(counts) as (keyof Steps)[]).map((step) => [step, sum(step)])),
    };
  };
  await waitFor(
    'every owner who is online to be counted',
    async () => (await funnel()).online >= counts.online,
  );
  return { ledger, funnel: await funnel() };
}

describe('R48: the funnel counts owners', () => {
  it('as the ledger of a population of every behaviour', async () => {
    const { ledger, funnel } = await populate();
    const wrong = (Object.keys(ledger) as (keyof Steps)[]).filter((step) => funnel[step] !== ledger[step]);
    promise('R48', { figure: `${wrong.length} of 6 numbers differ for ${OWNERS} owners`, bound: '0' });
    expect(funnel).toEqual(ledger);
  });

  itAtLength('turns red when sessions are counted for owners', async () => {
    const { ledger, funnel } = await populate((app) => {
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
    expect(funnel.started).toBeGreaterThan(ledger.started);
  });
});
