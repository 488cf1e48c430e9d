import { afterEach, describe, expect, it } from '@jest/globals';
import { WITHDRAW_CONSENTS } from '../../../src/invitations/consents.sql.js';
import {
  DECLINE,
  FIND_DECLINED,
  IS_REPLACED,
  RECORD_PROGRESS,
  REQUEST_RENEWAL,
  TAKE_BACK,
} from '../../../src/invitations/invitations.sql.js';
import { InvitationsStore } from '../../../src/invitations/invitations.store.js';
import { OwnerTexts } from '../../../src/invitations/owner/owner-texts.service.js';
import { changeStatement } from '../support/changed-statement.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { repeat, startReplicas, type ReplicaOptions, type Replicas } from '../support/replicas.js';

const OWNERS = isLong ? 40 : 8;
/** What an owner presses. */
type Button = '' | '/decline' | '/renewal' | '/withdrawal';

interface Owner {
  readonly id: string;
  readonly userId: string;
  readonly gridLocationId: string;
  readonly path: string;
}

let replicas: Replicas;
afterEach(() => replicas.close());

/** Invites owners on two replicas, which run no tasks, so that only the requests of the test change invitations. */
async function invite(prepare?: ReplicaOptions['prepare']): Promise<Owner[]> {
  const environment = { ROLE: 'api', INVITATION_RENEWAL: 'auto' } as const;
  replicas = await startReplicas({ count: 2, environment, ...(prepare && { prepare }) });
  const [client] = replicas.clients;
  return repeat(OWNERS, async () => {
    const gridLocationId = await client!.locate();
    const { body } = await client!.call<Owner & { url: string }>('POST', '/invitations', { gridLocationId });
    return { ...body, path: new URL(body.url).pathname };
  });
}

const query = <Found>(text: string, values: readonly unknown[] = []) =>
  replicas.apps[0]!.database.query<Found>(text, values);
const press = (replica: number, { path }: Owner, button: Button) =>
  fetch(`${replicas.clients[replica]!.url}${path}${button}`, { method: 'POST', redirect: 'manual' });
/** Lets each owner press both buttons at once, one on each replica. Returns how many responses are errors. */
async function pressAtOnce(owners: readonly Owner[], one: Button, other: Button): Promise<number> {
  const pressed = owners.flatMap((owner) => [press(0, owner, one), press(1, owner, other)]);
  return (await Promise.all(pressed)).filter(({ status }) => status >= 500).length;
}
const countEvents = async (name: string, { id }: Owner): Promise<number> =>
  (await query('SELECT FROM domain_events WHERE name = $1 AND subject = $2', [name, id])).length;
const factsOf = async ({ id, gridLocationId }: Owner) => {
  const [facts] = await query<{ state: string; wishes: number; sessions: number; invitations: number }>(
    `SELECT invitation_state(i) AS state, (i.wish_due_at IS NOT NULL)::int AS wishes,
            (SELECT count(*)::int FROM onboarding_sessions WHERE grid_location_id = $2) AS sessions,
            (SELECT count(*)::int FROM invitations WHERE grid_location_id = $2) AS invitations
       FROM invitations i WHERE i.id = $1`,
    [id, gridLocationId],
  );
  return facts!;
};
const countWrong = async (owners: readonly Owner[], isRight: (owner: Owner) => Promise<boolean>) =>
  (await Promise.all(owners.map(isRight))).filter((each) => !each).length;
const passAll = () =>
  query(
    `UPDATE invitations SET created_at = now() - interval '2 days', expires_at = now() - interval '1 ms'`,
  );

/** Lets owners decline and click at once. Counts those of whom it is unclear which came first, and those who cannot continue. */
async function declineAndClick() {
  const owners = await invite();
  const errors = await pressAtOnce(owners, '/decline', '');
  const unclear = await countWrong(owners, async (owner) => {
    const { state, wishes, sessions } = await factsOf(owner);
    const declined = await countEvents('invitation.declined', owner);
    if (sessions > 1 || declined !== 1) return false;
    return state === 'declined' ? wishes === 0 : state === 'started' && sessions === 1;
  });
  const lost = await countWrong(owners, async (owner) => {
    const led = (await press(1, owner, '')).headers.get('location');
    const { state, sessions } = await factsOf(owner);
    return led?.startsWith('http') === true && state === 'started' && sessions === 1;
  });
  return { errors, unclear, lost };
}

/** Lets owners press the same button twice at once. Counts those of whom not exactly one event says so. */
async function pressTwice(button: Button, name: string, prepare?: ReplicaOptions['prepare']) {
  const owners = await invite(prepare);
  if (button === '/renewal') await passAll();
  if (button === '/withdrawal') await Promise.all(owners.map((owner) => press(0, owner, '')));
  const errors = await pressAtOnce(owners, button, button);
  const wrong = await countWrong(owners, async (owner) => {
    const { invitations } = await factsOf(owner);
    return (await countEvents(name, owner)) === 1 && invitations === (button === '/renewal' ? 2 : 1);
  });
  return { errors, wrong };
}

/**
 * Lets owners take back that they have declined while the tenant invites them again; with `isLater`, the click is recorded after that. Counts those with two links
 * that work, or with none, or whose click has started a session by a link that was replaced.
 */
async function takeBackAndInvite(isLater: boolean, prepare?: ReplicaOptions['prepare']) {
  const owners = await invite(prepare);
  await Promise.all(owners.map((owner) => press(0, owner, '/decline')));
  const again = async ({ gridLocationId }: Owner) =>
    (await replicas.clients[0]!.call<Owner>('POST', '/invitations', { gridLocationId })).body.id;
  // As a click whose page was read before the tenant invited again.
  const wishOf = ({ id }: Owner) => {
    const { app } = replicas.apps[1]!;
    const wished = app.get(InvitationsStore).wish(id, null, 60_000, app.get(OwnerTexts).consentIn('en'));
    return wished.then(
      () => ({ status: 303 }),
      () => ({ status: 500 }),
    );
  };
  const acts = owners.map(async (owner) => {
    const invited = again(owner);
    const { status } = isLater ? await invited.then(() => wishOf(owner)) : await press(1, owner, '');
    return { owner, status, invited: await invited };
  });
  const done = await Promise.all(acts);
  const unclear = await Promise.all(
    done.map(async ({ owner, invited }) => {
      const { state, sessions, invitations } = await factsOf(owner);
      return invited === owner.id
        ? state !== 'started' || sessions !== 1 || invitations !== 1
        : state !== 'declined' || sessions !== 0 || invitations !== 2;
    }),
  );
  return {
    errors: done.filter(({ status, invited }) => status >= 500 || invited === undefined).length,
    unclear: unclear.filter((each) => each).length,
  };
}

/** Opens a session, declines, and lets the installation come online. Returns the state. */
async function declineAndComeOnline(prepare?: ReplicaOptions['prepare']): Promise<string> {
  const [owner] = await invite(prepare);
  await press(0, owner!, '');
  await press(0, owner!, '/decline');
  const [session] = await query<{ id: string }>('SELECT id FROM onboarding_sessions');
  await replicas.sandbox.control.online(session!.id);
  await replicas.clients[0]!.call('POST', `/onboarding/pv/${session!.id}/refresh`);
  await replicas.apps[0]!.app.get(InvitationsStore).recordProgress(new Date(0));
  return (await factsOf(owner!)).state;
}

/** Ends invitations while their owners decline or ask for a new link. Then presses both again. */
async function end(prepare?: ReplicaOptions['prepare']) {
  const owners = await invite(prepare);
  const middle = owners.length / 2;
  const [revoked, erased] = [owners.slice(0, middle), owners.slice(middle)];
  const agreed = owners.filter((_, index) => index % 4 === 1);
  await Promise.all(agreed.map((owner) => press(0, owner, '')));
  const expired = erased.filter((_, index) => index % 2 === 0);
  await query(
    `UPDATE invitations SET created_at = now() - interval '2 days', expires_at = now() - interval '1 ms' WHERE id = ANY ($1::uuid[])`,
    [expired.map(({ id }) => id)],
  );
  const [client] = replicas.clients;
  const ended = [
    ...revoked.map(({ id }) => client!.call('DELETE', `/invitations/${id}`)),
    ...erased.map(({ userId }) => client!.call('DELETE', `/users/${userId}`)),
  ];
  const buttonOf = (owner: Owner): Button =>
    agreed.includes(owner) ? '/withdrawal' : expired.includes(owner) ? '/renewal' : '/decline';
  const pressed = owners.map((owner) => press(1, owner, buttonOf(owner)));
  const statuses = [...(await Promise.all(ended)), ...(await Promise.all(pressed))];
  const count = async () => (await query('SELECT FROM domain_events')).length;
  // A consent may still be withdrawn after a revocation.
  await pressAtOnce(agreed, '/withdrawal', '/withdrawal');
  const before = await count();
  for (const button of ['/decline', '/renewal', '/withdrawal'] as const)
    await pressAtOnce(owners, button, button);
  const left = await query(
    `SELECT i.id FROM invitations i WHERE erased_at IS NULL AND (revoked_at IS NULL OR id <> ALL ($1::uuid[])) OR erased_at IS NOT NULL AND decline_reason IS NOT NULL
      UNION ALL SELECT c.id FROM consents c JOIN invitations i ON i.id = c.invitation_id WHERE i.erased_at IS NOT NULL OR c.withdrawn_at IS NULL`,
    [revoked.map(({ id }) => id)],
  );
  return {
    errors: statuses.filter(({ status }) => status >= 500).length,
    left: left.length,
    events: (await count()) - before,
  };
}

describe('R46: what owners press counts once, and in its order', () => {
  it('if they decline and click at once: a later click takes it back', async () => {
    const pressed = await declineAndClick();
    promise('R46', {
      figure: `${pressed.unclear} unclear and ${pressed.lost} lost of ${OWNERS} owners who declined and clicked at once`,
      bound: '0, 0',
    });
    expect(pressed).toEqual({ errors: 0, unclear: 0, lost: 0 });
  });

  it('if they withdraw the consent and click at once: a later click gives it again', async () => {
    const owners = await invite();
    await Promise.all(owners.map((owner) => press(0, owner, '')));
    const errors = await pressAtOnce(owners, '/withdrawal', '');
    const unclear = await countWrong(owners, async (owner) => {
      const { state, wishes, sessions } = await factsOf(owner);
      const stands =
        (await countEvents('consent.given', owner)) - (await countEvents('consent.withdrawn', owner));
      return sessions === 1 && (stands === 0 ? state === 'declined' && wishes === 0 : state === 'started');
    });
    const lost = await countWrong(owners, async (owner) => {
      const led = (await press(1, owner, '')).headers.get('location');
      return led?.startsWith('http') === true && (await factsOf(owner)).state === 'started';
    });
    expect({ errors, unclear, lost }).toEqual({ errors: 0, unclear: 0, lost: 0 });
  });

  it('if they withdraw the consent twice at once', async () => {
    const { errors, wrong } = await pressTwice('/withdrawal', 'consent.withdrawn');
    expect({ errors, wrong }).toEqual({ errors: 0, wrong: 0 });
  });

  itAtLength('turns red when a consent is withdrawn that was withdrawn before', async () => {
    const { wrong } = await pressTwice('/withdrawal', 'consent.withdrawn', (app) =>
      changeStatement(app, WITHDRAW_CONSENTS, ' AND withdrawn_at IS NULL', ''),
    );
    expect(wrong).toBe(OWNERS);
  });

  it('if they decline twice at once', async () => {
    expect(await pressTwice('/decline', 'invitation.declined')).toEqual({ errors: 0, wrong: 0 });
  });

  it.each([false, true])(
    'if they take back that they have declined while the tenant invites them again (after that: %s)',
    async (isLater) => {
      expect(await takeBackAndInvite(isLater)).toEqual({ errors: 0, unclear: 0 });
    },
  );

  itAtLength('turns red when a link that was replaced is taken back', async () => {
    const { errors, unclear } = await takeBackAndInvite(true, (app) => {
      changeStatement(app, FIND_DECLINED, IS_REPLACED, 'false');
      changeStatement(app, TAKE_BACK, IS_REPLACED, 'false');
    });
    expect(errors + unclear).toBeGreaterThan(0);
  });

  it('if the installation of an owner who has declined comes online', async () => {
    expect(await declineAndComeOnline()).toBe('online');
  });

  itAtLength('turns red when an invitation is declined that was declined before', async () => {
    const { wrong } = await pressTwice('/decline', 'invitation.declined', (app) =>
      changeStatement(app, DECLINE, ' AND i.declined_at IS NULL', ''),
    );
    expect(wrong).toBe(OWNERS);
  });

  itAtLength('turns red when the sessions of an owner who has declined no longer count', async () => {
    const state = await declineAndComeOnline((app) =>
      changeStatement(app, RECORD_PROGRESS, '(i.declined_at IS NULL OR', '(i.declined_at IS NULL AND'),
    );
    expect(state).toBe('declined');
  });
});

describe('R47: a link that no longer works makes one request for another a day', () => {
  it('if it is pressed on two replicas at once', async () => {
    const pressed = await pressTwice('/renewal', 'invitation.renewal_requested');
    promise('R47', {
      figure: `${pressed.wrong} of ${OWNERS} owners who asked twice for a new link have not exactly one`,
      bound: '0',
    });
    expect(pressed).toEqual({ errors: 0, wrong: 0 });
  });

  itAtLength('turns red when the time of the last request does not count', async () => {
    const { wrong } = await pressTwice('/renewal', 'invitation.renewal_requested', (app) =>
      changeStatement(app, REQUEST_RENEWAL, 'i.renewal_requested_at IS NULL OR', 'true OR'),
    );
    expect(wrong).toBe(OWNERS);
  });
});

describe('R49: a revocation or an erasure leaves nothing to decline or to renew', () => {
  it('also if the owner presses at the same time', async () => {
    const ended = await end();
    promise('R49', {
      figure: `${ended.left} invitations and ${ended.events} events left of ${OWNERS} that were ended while their owners pressed`,
      bound: '0, 0',
    });
    expect(ended).toEqual({ errors: 0, left: 0, events: 0 });
  });

  itAtLength('turns red when any link may ask for a new one', async () => {
    const { events } = await end((app) =>
      changeStatement(app, REQUEST_RENEWAL, "(invitation_state(i) = 'expired' OR", '(true OR'),
    );
    expect(events).toBeGreaterThan(0);
  });
});
