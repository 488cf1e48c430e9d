import { randomInt } from 'node:crypto';
import type { Sql } from '../../../../src/platform/database/database.js';
import { insertCampaign } from '../../../setup/campaign.js';
import type { SessionAnswer, TestClient, UserAnswer } from '../../../setup/client.js';
import { newEan } from '../../../setup/ean.js';
import type { TestApp } from '../../../setup/test-app.js';
import { waitFor } from '../../../setup/wait-for.js';
import { dumpTables, findSecrets } from './secret-search.js';

/** A person with data in every table that may hold personal data. */
export interface CanaryPerson {
  readonly userId: string;
  readonly tenantReference: string;
  readonly gridLocationId: string;
  readonly gridLocations: readonly { readonly ean: string }[];
  /** One session with an open web flow, one online, one unrecognised. */
  readonly sessionIds: readonly string[];
  /** What opens something, by name: no export contains it. */
  readonly capabilities: Readonly<Record<string, string>>;
  /** Texts, by name, that no table may contain after the erasure. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Tables that must contain the person before the erasure. Otherwise a search after the erasure would prove nothing. */
export const PLACES_OF_A_PERSON = [
  'audit_log',
  'bulk_actions',
  'campaign_rows',
  'consents',
  'domain_events',
  'grid_locations',
  'inverters',
  'invitations',
  'onboarding_sessions',
  'registrations',
  'session_observations',
  'session_polls',
  'session_starts',
  'stalls',
  'users',
  'webhook_deliveries',
];

/** Returns letters only, because text with digits may look like a key and be redacted from errors. */
const word = (): string => Array.from({ length: 12 }, () => String.fromCharCode(97 + randomInt(26))).join('');

/** Registers a person, with registrations that are rejected, discarded and resolved, and sessions that fail to start, stay open, come online or are unrecognised. */
export async function createCanaryPerson(service: TestApp, client: TestClient): Promise<CanaryPerson> {
  const { control } = service.sandbox!;
  const tenantReference = word();
  const eans = [newEan(), newEan()];
  const [firstName, lastName, salesNote, sessionNote, stallNote, requestId, responseField, label, path] =
    Array.from({ length: 9 }, word) as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ];
  const email = `${word()}@example.org`;
  const [bulkNote, reason] = [word(), word()];
  await insertCampaign(
    service.database,
    eans.map((ean) => ({ tenantReference, ean, metadata: { note: salesNote } })),
    { status: 'checked' },
  );
  const refusal = { status: 422, body: JSON.stringify({ error: `${lastName} owes money` }) };
  const request = {
    tenantReference,
    gridLocations: eans.map((ean) => ({ ean })),
    metadata: { note: salesNote },
  };

  const register = () => client.call<{ readonly id: string }>('POST', '/users', request);
  async function loseResponse(): Promise<string> {
    await control.addFault({ kind: 'reset', operation: 'register_user', effect: true, times: 1 });
    return (await register()).body.id;
  }
  const decide = (registrationId: string, decision: string, body?: object) =>
    client.call('POST', `/registrations/${registrationId}/${decision}`, body, {
      'x-request-id': `${decision}-${requestId}`,
    });

  await control.addFault({ kind: 'answer', operation: 'register_user', times: 1, ...refusal });
  await register();
  await decide(await loseResponse(), 'discard');
  const uncertain = await loseResponse();
  const confirmed = (await control.users()).findLast((user) => user.tenantReference === tenantReference)!;
  await decide(uncertain, 'resolve', { ...confirmed, firstName, lastName, email });
  const user = (await client.call<UserAnswer>('GET', `/users/${confirmed.id}`)).body;
  const gridLocationId = user.gridLocations[0]!.id;

  const start = async (brand: string): Promise<SessionAnswer> =>
    (await client.start(gridLocationId, { brand, metadata: { note: sessionNote } })).body;
  await control.addFault({ kind: 'answer', operation: 'start_session', times: 1, ...refusal });
  await start('failing');
  const open = await start('open');
  const online = await start('online');
  const unrecognised = await start('unrecognised');
  const set = { owner: { name: responseField } };
  await control.online(online.id, { inverters: 2 });
  await control.fields(online.id, { set });
  await control.fields(unrecognised.id, { set: { ...set, finished: true, active: true } });
  await control.addFault({
    kind: 'answer',
    operation: 'read_session',
    contains: open.id,
    times: null,
    ...refusal,
  });
  const invitation = await client.call<{ id: string; url: string }>('POST', '/invitations', {
    gridLocationId: user.gridLocations[1]!.id,
    metadata: { label },
    returnUrl: `https://127.0.0.1/${path}`,
  });
  await fetch(invitation.body.url, { method: 'POST', redirect: 'manual' });
  const [consent] = await service.database.query<{ id: string }>(
    'SELECT id FROM consents WHERE invitation_id = $1',
    [invitation.body.id],
  );
  const { inverters } = await waitFor('the sessions to be read', async () => {
    const [first, second] = await Promise.all([client.session(online.id), client.session(unrecognised.id)]);
    return second.state === 'unrecognised' && first.inverters.length === 2 && first;
  });
  const stalled = await waitFor('the start that failed to be stalled', async () => {
    const items = await client.list<{ kind: string; id: string }>(
      `/stalled?kind=start&tenantReference=${tenantReference}`,
    );
    return items[0] ?? false;
  });
  const headers = { 'x-request-id': requestId };
  await client.call('PATCH', `/stalled/${stalled.id}`, { kind: 'start', note: stallNote }, headers);

  const action = {
    ...{ operationId: 'startSession', ids: [gridLocationId], reason },
    arguments: { brand: 'open', metadata: { note: bulkNote } },
  };
  const bulk = await client.call<{ id: string }>('POST', '/bulk-actions', action, headers);
  await waitFor('the bulk action to end', async () => {
    const { body } = await client.call<{ finishedAt: string | null }>('GET', `/bulk-actions/${bulk.body.id}`);
    return body.finishedAt !== null;
  });

  return {
    userId: user.id,
    tenantReference,
    gridLocationId,
    gridLocations: request.gridLocations,
    sessionIds: [open.id, online.id, unrecognised.id],
    capabilities: { startUrl: open.startUrl!, link: invitation.body.url.split('/i/')[1]! },
    secrets: {
      tenantReference,
      firstEan: eans[0]!,
      secondEan: eans[1]!,
      firstName,
      lastName,
      email,
      salesNote,
      sessionNote,
      stallNote,
      bulkNote,
      reason,
      requestId,
      responseField,
      label,
      path,
      consentId: consent!.id,
      startUrl: open.startUrl!,
      firstInverter: inverters[0]!.id,
      secondInverter: inverters[1]!.id,
    },
  };
}

export async function placesOf({ secrets }: CanaryPerson, { environment }: TestApp): Promise<string[]> {
  const found = findSecrets(secrets, await dumpTables(environment.DATABASE_URL));
  return [...new Set(found.map((hit) => hit.replace(/^.* in table (public\.)?/, '')))].sort();
}

export const countPolls = async (sql: Sql, sessionIds: readonly string[]): Promise<number> =>
  (await sql.query('SELECT FROM session_polls WHERE session_id = ANY ($1::uuid[])', [sessionIds])).length;
