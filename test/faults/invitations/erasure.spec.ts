import { afterEach, describe, expect, it } from '@jest/globals';
import { ERASE_INVITATIONS } from '../../../src/invitations/erase-invitations.sql.js';
import { changeStatement } from '../support/changed-statement.js';
import { itAtLength, promise } from '../support/promise.js';
import { startReplicas, type ReplicaOptions, type Replicas } from '../support/replicas.js';

const TRACES = ['Kerkstraat 12', 'reference-of-ann', 'https://127.0.0.1/back-for-ann'];

let replicas: Replicas;
afterEach(() => replicas.close());

/** Invites a person, starts a session and erases the person. Returns the data that are left, and the page of the link. */
async function erase(prepare?: ReplicaOptions['prepare']) {
  replicas = await startReplicas({ count: 1, environment: { ROLE: 'all' }, ...(prepare && { prepare }) });
  const [client] = replicas.clients;
  const { body } = await client!.call<{ id: string; url: string; userId: string }>('POST', '/invitations', {
    gridLocationId: await client!.locate('reference-of-ann'),
    metadata: { label: 'Kerkstraat 12' },
    returnUrl: 'https://127.0.0.1/back-for-ann',
  });
  await fetch(body.url, { method: 'POST', redirect: 'manual' });
  await client!.call('DELETE', `/users/${body.userId}`);
  const database = replicas.apps[0]!.database;
  const rows = await database.query<{ row: string }>(
    `SELECT i::text AS row FROM invitations i UNION ALL SELECT e::text FROM domain_events e UNION ALL SELECT s::text FROM onboarding_sessions s`,
  );
  const response = await fetch(body.url, { headers: { 'accept-language': 'en' } });
  return {
    left: TRACES.filter((trace) => rows.some(({ row }) => row.includes(trace))),
    status: response.status,
    isErased: (await response.text()).includes('This invitation is over'),
    listed: (await client!.list<object>('/invitations')).length,
  };
}

describe('R49: an erasure leaves nothing of an invitation', () => {
  it('and its link says so', async () => {
    const erased = await erase();
    promise('R49', { figure: `${erased.left.length} of ${TRACES.length} traces left`, bound: '0' });
    expect(erased).toEqual({ left: [], status: 410, isErased: true, listed: 0 });
  });

  itAtLength('turns red when an erasure leaves out the metadata', async () => {
    const { left } = await erase((app) => changeStatement(app, ERASE_INVITATIONS, "metadata = '{}', ", ''));
    expect(left).toEqual(['Kerkstraat 12']);
  });
});
