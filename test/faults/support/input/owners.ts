import { StallTask } from '../../../../src/stalls/stall-task.service.js';
import { waitFor } from '../../../setup/wait-for.js';
import type { Replicas } from '../replicas.js';

export interface Owner {
  readonly id: string;
  readonly url: string;
  readonly gridLocationId: string;
}

export type ReachedStep = 'sent' | 'opened' | 'started' | 'ownerDone' | 'online' | 'expired' | 'declined';

/**
 * What an owner does. `reached`: the steps that the owner reaches. `invitation`, `session`: why the invitation or a session is stalled
 * then.
 */
interface Behaviour {
  readonly reached: readonly ReachedStep[];
  readonly invitation?: string;
  readonly session?: string;
  readonly act: (owner: Owner) => Promise<unknown>;
}

const HOUR = `interval '1 hour'`;

/** Returns every behaviour of an owner. Waits are either longer than the thresholds of the default configuration, or much shorter. */
export function behavioursOf({ clients, sandbox, apps }: Replicas): readonly Behaviour[] {
  const client = clients[0]!;
  const { control } = sandbox;
  const query = (text: string, values: readonly unknown[]) => apps[0]!.database.query(text, values);
  const click = ({ url }: Owner, brand = '') =>
    fetch(`${url}${brand && `?brand=${brand}`}`, { method: 'POST', redirect: 'manual' });
  const open = ({ url }: Owner) => fetch(`${url}?opened=1`, { method: 'POST' });
  const decline = ({ url }: Owner) => fetch(`${url}/decline`, { method: 'POST' });
  const tell = ({ id }: Owner, status: 'sent' | 'bounced', minutesAgo: number) =>
    client.call('POST', `/invitations/${id}/messages`, {
      status,
      channel: 'email',
      at: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
    });
  const read = (id: string) => client.call('POST', `/onboarding/pv/${id}/refresh`);
  /** Clicks as the owner, and reads the session once. Returns the id of the session. */
  const begin = async (owner: Owner): Promise<string> => {
    await click(owner);
    const path = `/onboarding/pv?gridLocationId=${owner.gridLocationId}&state=awaiting_owner`;
    const items = await client.list<{ id: string }>(path);
    const { id } = items.at(-1)!;
    await read(id);
    return id;
  };
  const complete = async (id: string) => {
    await control.complete(id, { onlineAfterMs: null });
    await read(id);
  };
  const comeOnline = async (id: string) => {
    await complete(id);
    await control.online(id);
    await read(id);
  };
  const ageInvitation = ({ id }: Owner, hours: number) =>
    query(
      `UPDATE invitations SET created_at = created_at - $2 * ${HOUR}, opened_at = opened_at - $2 * ${HOUR} WHERE id = $1`,
      [id, hours],
    );
  /** Waits until the invitation awaits `awaits`. Then moves its times into the past. */
  const ageBegun = async ({ id }: Owner, awaits: string, hours: number) => {
    await waitFor(`the invitation awaits ${awaits}`, async () => {
      const [row] = await query('SELECT FROM invitations WHERE id = $1 AND awaits = $2', [id, awaits]);
      return row;
    });
    await query(
      `UPDATE invitations SET started_at = started_at - $2 * ${HOUR}, awaits_since = awaits_since - $2 * ${HOUR} WHERE id = $1`,
      [id, hours],
    );
  };
  const age = (id: string, hours: number) =>
    query(
      `UPDATE onboarding_sessions SET recorded_at = recorded_at - $2 * ${HOUR}, expires_at = expires_at - $2 * ${HOUR},
              state_changed_at = state_changed_at - $2 * ${HOUR} WHERE id = $1`,
      [id, hours],
    );
  return [
    { reached: [], act: async () => {} },
    // A scanner follows the link.
    {
      reached: [],
      invitation: 'never_opened',
      act: async (owner) => {
        await fetch(owner.url);
        await ageInvitation(owner, 73);
      },
    },
    { reached: ['opened'], act: open },
    {
      reached: ['opened'],
      invitation: 'opened_not_started',
      act: async (owner) => {
        await open(owner);
        await ageInvitation(owner, 73);
      },
    },
    {
      reached: [],
      invitation: 'expiring_soon',
      act: ({ id }) =>
        query(
          `UPDATE invitations SET created_at = now() - 19 * ${HOUR}, expires_at = now() + ${HOUR} WHERE id = $1`,
          [id],
        ),
    },
    // The remote service refuses the start.
    {
      reached: ['opened'],
      invitation: 'remote_unreachable',
      act: async (owner) => {
        const fault = { kind: 'answer', operation: 'start_session', status: 422, times: 1 } as const;
        await control.addFault({ ...fault, contains: owner.gridLocationId });
        await click(owner);
      },
    },
    { reached: ['opened', 'started'], act: (owner) => Promise.all([click(owner), click(owner)]) },
    {
      reached: ['opened', 'started'],
      session: 'started_not_completed',
      act: async (owner) => {
        await ageInvitation(owner, 500);
        const id = await begin(owner);
        await control.expire(id);
        await read(id);
        await age(await begin(owner), 5);
      },
    },
    // The session expires, and the owner does not come back.
    {
      reached: ['opened', 'started'],
      invitation: 'started_not_completed',
      act: async (owner) => {
        const id = await begin(owner);
        await control.expire(id);
        await read(id);
        await ageBegun(owner, 'start', 5);
      },
    },
    // One of two brands is online, and the owner does not begin with the other.
    {
      reached: ['opened', 'started'],
      invitation: 'started_not_completed',
      act: async (owner) => {
        await query(`UPDATE invitations SET brands = '{acme,sunward}' WHERE id = $1`, [owner.id]);
        await comeOnline(await begin(owner));
        await ageBegun(owner, 'start', 5);
      },
    },
    // The session expires before the installation is online.
    {
      reached: ['opened', 'started', 'ownerDone'],
      invitation: 'completed_not_online',
      act: async (owner) => {
        const id = await begin(owner);
        await complete(id);
        await control.expire(id);
        await read(id);
        await ageBegun(owner, 'installation', 73);
      },
    },
    {
      reached: ['opened', 'started'],
      session: 'unrecognised',
      act: async (owner) => {
        const id = await begin(owner);
        await control.fields(id, { set: { finished: true, active: true } });
        await read(id);
        await age(id, 1);
      },
    },
    {
      reached: ['opened', 'started'],
      session: 'remote_unreachable',
      act: async (owner) => {
        const id = await begin(owner);
        const fault = { kind: 'answer', operation: 'read_session', status: 422, times: null } as const;
        await control.addFault({ ...fault, contains: id });
        for (let failed = 0; failed < 3; failed++) await read(id);
        await query(
          `UPDATE session_polls SET checked_at = checked_at - 2 * ${HOUR}, claimed_at = claimed_at - 2 * ${HOUR},
                  failing_since = failing_since - 2 * ${HOUR} WHERE session_id = $1`,
          [id],
        );
      },
    },
    {
      reached: ['opened', 'started', 'ownerDone'],
      session: 'completed_not_online',
      act: async (owner) => {
        const id = await begin(owner);
        await complete(id);
        await query(
          `UPDATE onboarding_sessions SET recorded_at = recorded_at - 73 * ${HOUR}, state_changed_at = state_changed_at - 73 * ${HOUR},
                  expires_at = now() + 72 * ${HOUR} WHERE id = $1`,
          [id],
        );
      },
    },
    // The session is stalled, and then the owner continues.
    {
      reached: ['opened', 'started', 'ownerDone'],
      act: async (owner) => {
        const id = await begin(owner);
        await age(id, 5);
        await apps[0]!.app.get(StallTask).run();
        await complete(id);
      },
    },
    {
      reached: ['opened', 'started', 'ownerDone', 'online'],
      act: async (owner) => {
        const id = await begin(owner);
        await comeOnline(id);
        await age(id, 500);
      },
    },
    // The tenant's app has started the session, and nobody follows the link.
    {
      reached: ['ownerDone', 'online'],
      act: async ({ gridLocationId }) => comeOnline((await client.start(gridLocationId)).body.id),
    },
    // The invitation is deleted, but the session that the owner has started stays.
    {
      reached: ['opened', 'started'],
      session: 'expiring_soon',
      act: async (owner) => {
        await age(await begin(owner), 23);
        await client.call('DELETE', `/invitations/${owner.id}`);
      },
    },
    // The tenant's mailer says the same twice.
    {
      reached: ['sent'],
      act: async (owner) => {
        for (let time = 0; time < 2; time++) await tell(owner, 'sent', 20);
      },
    },
    // The mailer says too late that it has sent what came back.
    {
      reached: ['sent'],
      invitation: 'unreachable',
      act: async (owner) => {
        for (let time = 0; time < 2; time++) await tell(owner, 'bounced', 10);
        await tell(owner, 'sent', 15);
      },
    },
    {
      reached: ['sent'],
      act: async (owner) => {
        await tell(owner, 'sent', 5);
        await tell(owner, 'bounced', 10);
      },
    },
    // The link comes back after the tenant has revoked it.
    {
      reached: ['sent'],
      act: async (owner) => {
        await tell(owner, 'sent', 5);
        await client.call('DELETE', `/invitations/${owner.id}`);
        await tell(owner, 'bounced', 0);
      },
    },
    {
      reached: ['opened', 'declined'],
      act: (owner) => decline(owner),
    },
    // The owner declines after the web flow, and the installation is connected all the same.
    {
      reached: ['opened', 'started', 'ownerDone', 'online'],
      invitation: 'consent_withdrawn',
      act: async (owner) => {
        const id = await begin(owner);
        await decline(owner);
        await comeOnline(id);
        await age(id, 500);
      },
    },
    {
      reached: ['opened', 'started'],
      act: async (owner) => {
        await decline(owner);
        await click(owner);
      },
    },
    {
      reached: ['expired'],
      invitation: 'renewal_requested',
      act: async (owner) => {
        await query(`UPDATE invitations SET expires_at = now() - interval '1 ms' WHERE id = $1`, [owner.id]);
        await fetch(`${owner.url}/renewal`, { method: 'POST' });
      },
    },
    {
      reached: ['opened', 'expired'],
      act: async (owner) => {
        await open(owner);
        await ageInvitation(owner, 73);
        await query(`UPDATE invitations SET expires_at = now() - interval '1 ms' WHERE id = $1`, [owner.id]);
      },
    },
  ];
}
