import { describe, expect, it, jest } from '@jest/globals';
import { randomBytes, randomInt } from 'node:crypto';
import type { RemoteRequest } from '../../../src/remote/outcome.rules.js';
import { Remote } from '../../../src/remote/remote.service.js';
import { roundedForm } from '../../../src/users/rounded.rules.js';
import { useSandbox } from '../../setup/sandbox/sandbox-client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { isLong, itAtLength, promise } from '../support/promise.js';

const USERS = isLong ? 100 : 5;
const EANS_PER_USER = 100;
/** Few users suffice, because JSON.parse alters more than 90 % of the EANs. */
const RED_USERS = 5;

const sandbox = useSandbox();

interface Sent {
  readonly reference: string;
  readonly eans: readonly string[];
  /** The request body. Every second EAN is a JSON number, unless it looks rounded; the others are text. */
  readonly body: string;
}

function randomUser(): Sent {
  const reference = `digits-${randomBytes(8).toString('hex')}`;
  const distinct = new Set<string>();
  while (distinct.size < EANS_PER_USER) {
    distinct.add(`${randomInt(1, 10)}${Array.from({ length: 17 }, () => randomInt(10)).join('')}`);
  }
  const eans = [...distinct];
  const gridLocations = eans.map((ean, index) =>
    index % 2 === 0 || roundedForm(ean) !== undefined ? `{"ean":"${ean}"}` : `{"ean":${ean}}`,
  );
  return { reference, eans, body: bodyOf(reference, gridLocations) };
}

const bodyOf = (reference: string, gridLocations: readonly string[]): string =>
  `{"tenantReference":"${reference}","gridLocations":[${gridLocations.join(',')}]}`;

async function call({ url, adminKey }: TestApp, method: string, path: string, body?: string) {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${adminKey}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
  });
  return response.text();
}

/** Registers random EANs. Counts the altered EANs in each place: the remote request, tables, responses and events. */
async function countLostDigits(app: TestApp, count: number): Promise<Record<string, number>> {
  const users = Array.from({ length: count }, randomUser);
  const responses = new Map<string, string>();
  for (let at = 0; at < users.length; at += 10) {
    await Promise.all(
      users.slice(at, at + 10).map(async ({ reference, body }) => {
        responses.set(reference, await call(app, 'POST', '/users', body));
      }),
    );
  }
  const wire = new Map(
    (await sandbox.control.ledger()).users.map(({ tenantReference, body }) => [tenantReference, body]),
  );
  const rows = await app.database.query<{
    reference: string;
    requested: string[];
    stored: string[];
    announced: string[];
  }>(`
    SELECT r.tenant_reference AS reference, r.eans AS requested, array_agg(g.ean) AS stored,
      (SELECT array_agg(announced.ean) FROM domain_events e
         CROSS JOIN LATERAL jsonb_array_elements_text(e.data -> 'gridLocationIds') listed (id)
         JOIN grid_locations announced ON announced.id = listed.id::uuid
       WHERE e.subject = u.id::text AND e.name = 'user.registered') AS announced
    FROM registrations r LEFT JOIN users u ON u.id = r.user_id LEFT JOIN grid_locations g ON g.user_id = u.id
    GROUP BY r.id, u.id`);
  const lost = { wire: 0, intent: 0, database: 0, response: 0, read: 0, events: 0 };
  for (const { reference, eans } of users) {
    const row = rows.find((each) => each.reference === reference);
    const response = responses.get(reference) ?? '';
    const { id } = JSON.parse(response) as { id: string };
    const bytes = bodyOf(
      reference,
      eans.map((ean) => `{"ean":${ean}}`),
    );
    if (wire.get(reference) !== bytes) lost.wire += missing(eans, wire.get(reference) ?? '');
    lost.intent += eans.filter((ean, index) => row?.requested[index] !== ean).length;
    lost.database += eans.filter((ean) => !row?.stored.includes(ean)).length;
    lost.events += eans.filter((ean) => !row?.announced?.includes(ean)).length;
    lost.response += missing(eans, response);
    lost.read += missing(eans, await call(app, 'GET', `/users/${id}`));
  }
  return lost;
}

const missing = (eans: readonly string[], text: string): number =>
  eans.filter((ean) => !new RegExp(`"ean":"?${ean}"?[,}]`).test(text)).length;

describe('R19: no digit of an EAN is lost', () => {
  it(`in ${USERS * EANS_PER_USER} random EANs, as strings and as numbers, from the API over the wire to the readers`, async () => {
    const app = await startTestApp({ ...sandbox.environment, EAN_CHECK_DIGIT: 'off', LOG_LEVEL: 'error' });
    try {
      const none = { wire: 0, intent: 0, database: 0, response: 0, read: 0, events: 0 };
      const lost = await countLostDigits(app, USERS);
      const differing = Object.values(lost).reduce((sum, count) => sum + count);
      promise('R19', { figure: `${differing} of ${USERS * EANS_PER_USER} EANs differ anywhere`, bound: '0' });
      expect(lost).toEqual(none);
    } finally {
      await app.close();
    }
  });

  itAtLength('is red with the JSON of JavaScript', async () => {
    const app = await startTestApp(
      { ...sandbox.environment, EAN_CHECK_DIGIT: 'off', LOG_LEVEL: 'error' },
      {
        prepare: (nest) => {
          const remote = nest.get(Remote);
          const send = remote.send.bind(remote);
          jest.spyOn(remote, 'send').mockImplementation((request) => send(asJavaScript(request)));
        },
      },
    );
    try {
      const lost = await countLostDigits(app, RED_USERS);
      expect(lost.intent).toBe(0);
      expect(lost.wire).toBeGreaterThan(RED_USERS * EANS_PER_USER * 0.9);
      expect(lost.database).toBe(RED_USERS * EANS_PER_USER);
    } finally {
      await app.close();
    }
  });
});

const asJavaScript = (request: RemoteRequest): RemoteRequest =>
  request.operation === 'register_user'
    ? { ...request, body: JSON.stringify(JSON.parse(request.body ?? '')) }
    : request;
