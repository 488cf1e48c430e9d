import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';

const EAN = '376104250021234569';

interface Result {
  readonly id: string;
  readonly ok: boolean;
  readonly code: string | null;
  readonly detail: string | null;
}
interface Decisions {
  readonly items: readonly Result[];
  readonly next: string | null;
  readonly errors: readonly { readonly field: string }[];
}

describe('decisions about many registrations', () => {
  const service = useTestApp({ ROLE: 'api' });
  const client = TestClient.of(service);
  let database: Database;

  beforeAll(() => {
    database = service.app.get(Database);
  });
  beforeEach(() => database.query('TRUNCATE registrations, audit_log'));

  const insert = (status: string, more = '') =>
    database
      .query<{ id: string }>(
        `INSERT INTO registrations (tenant_reference, eans, metadata, status, attempts, next_attempt_at, last_error, created_at)
         SELECT gen_random_uuid(), '{${EAN}}', '{}', $1, 1, CASE $1 WHEN 'pending' THEN clock_timestamp() + interval '1 h' END,
           'the response was lost (${more})', clock_timestamp() - interval '1 h'
         RETURNING id`,
        [status],
      )
      .then(([row]) => row!.id);
  const decide = async (body: object) => client.call<Decisions>('POST', '/registrations/decisions', body);
  const okOf = (items: readonly Result[]) => Object.fromEntries(items.map(({ id, ok }) => [id, ok]));
  const statusOf = async (id: string) =>
    (await client.call<{ status: string }>('GET', `/registrations/${id}`)).body.status;
  const entries = () =>
    database.query<{ actor: string; action: string; target: string }>(
      'SELECT actor, action, target FROM audit_log WHERE action LIKE $1',
      ['registration.%'],
    );

  it('have a result for each id, by the rule of the single decision, and are audited', async () => {
    const [uncertain, rejected, registered] = [
      await insert('uncertain'),
      await insert('rejected'),
      await insert('registered'),
    ];
    const unknown = randomUUID();
    const ids = [uncertain, registered, rejected, unknown, uncertain];
    const { status, body } = await decide({ decision: 'discard', ids });
    expect(status).toBe(200);
    const conflict = (await client.call('POST', `/registrations/${registered}/discard`)).body;
    expect(body).toEqual({
      items: [
        { id: uncertain, ok: true, code: null, detail: null },
        { id: registered, ok: false, code: 'registration_conflict', detail: conflict.detail },
        { id: rejected, ok: true, code: null, detail: null },
        { id: unknown, ok: false, code: 'not_found', detail: `There is no registration ${unknown}` },
      ],
      next: null,
    });
    expect([await statusOf(uncertain), await statusOf(rejected)]).toEqual(['discarded', 'discarded']);
    const made = await entries();
    expect(made.map(({ action }) => action)).toEqual(['registration.discarded', 'registration.discarded']);
    expect(made.map(({ target }) => target)).toEqual([uncertain, rejected]);
  });

  it('with unchangedSince never send again what has changed since', async () => {
    const id = await insert('uncertain');
    const unchangedSince = new Date(Date.now() + 1_000).toISOString();
    const request = { decision: 'retry', ids: [id], unchangedSince: new Date(0).toISOString() };
    expect((await decide(request)).body.items).toMatchObject([{ ok: false, code: 'registration_conflict' }]);
    expect(await statusOf(id)).toBe('uncertain');
    expect((await decide({ ...request, unchangedSince })).body.items).toMatchObject([{ ok: true }]);
    // Simulates that the registration was sent after the first request, and its response was lost again.
    await database.query(
      `UPDATE registrations SET status = 'uncertain', next_attempt_at = NULL, updated_at = $2 WHERE id = $1`,
      [id, new Date(Date.parse(unchangedSince) + 1)],
    );
    expect((await decide({ ...request, unchangedSince })).body.items).toMatchObject([{ ok: false }]);
    expect(await statusOf(id)).toBe('uncertain');
  });

  it('take the registrations that a filter lists, and no other', async () => {
    const [timeout, reset, rejected] = [
      await insert('uncertain', 'status 503'),
      await insert('uncertain', 'ECONNRESET'),
      await insert('rejected', 'status 503'),
    ];
    const filter = { status: 'uncertain', lastError: '503', createdBefore: new Date().toISOString() };
    const query = new URLSearchParams(filter).toString();
    const listed = await client.call<{ items: { id: string }[] }>('GET', `/registrations?${query}`);
    expect(listed.body.items.map(({ id }) => id)).toEqual([timeout]);
    expect(okOf((await decide({ decision: 'discard', filter })).body.items)).toEqual({ [timeout]: true });
    const since = { status: 'uncertain', createdSince: new Date().toISOString() };
    expect((await decide({ decision: 'discard', filter: since })).body.items).toEqual([]);
    expect(await statusOf(timeout)).toBe('discarded');
    expect([await statusOf(reset), await statusOf(rejected)]).toEqual(['uncertain', 'rejected']);
  });
});
