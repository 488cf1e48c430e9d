import { randomUUID } from 'node:crypto';
import type { Database } from '../../../../src/platform/database/database.js';
import type { Answer, SessionAnswer, TestClient, UserAnswer } from '../../../setup/client.js';
import { newEan } from '../../../setup/ean.js';
import type { SandboxControl } from '../../../setup/sandbox/sandbox-control.js';

export interface Customer {
  readonly userId: string;
  readonly reference: string;
  readonly eans: readonly string[];
  readonly locationIds: readonly string[];
}

export async function register(client: TestClient): Promise<Customer> {
  const eans = [newEan(), newEan()].sort();
  const { body } = await client.call<UserAnswer>('POST', '/users', {
    tenantReference: randomUUID(),
    gridLocations: eans.map((ean) => ({ ean })),
  });
  return {
    userId: body.id,
    reference: body.tenantReference,
    eans,
    locationIds: body.gridLocations.map(({ id }) => id),
  };
}

/** Returns the texts of a session that only its own customer may see. */
export const secretsOf = (session: SessionAnswer): string[] => [
  session.id,
  session.userId,
  session.gridLocationId,
  session.tenantReference!,
  ...(session.startUrl === null ? [] : [session.startUrl]),
  ...session.inverters.map(({ id }) => id),
  ...Object.values(session.metadata).map(String),
];

export const leaks = (answer: Answer<unknown>, secrets: readonly string[]): string[] => {
  const text = JSON.stringify(answer.body) + (answer.headers.get('location') ?? '');
  return secrets.filter((secret) => text.includes(secret));
};

export const userBody = (
  id: string,
  tenantReference: string,
  gridLocations: readonly { id: string; ean: string }[],
): string => {
  const locations = gridLocations.map(({ id: own, ean }) => `{"id":"${own}","ean":${ean}}`).join(',');
  return `{"id":"${id}","tenantReference":"${tenantReference}","tenantName":"","firstName":"","lastName":"","email":"","gridLocations":[${locations}]}`;
};

const startBody = (sessionId: string): string =>
  JSON.stringify({
    sessionId,
    finished: false,
    active: true,
    startUrl: `https://flow.example/pv-onboarding/${randomUUID()}`,
    createdAt: '2026-11-20T10:00:00+01:00',
    updatedAt: '2026-11-20T10:00:00+01:00',
    expiresAt: '2099-11-21T10:00:00+01:00',
  });

export const scriptStart = (control: SandboxControl, locationId: string, sessionId: string) =>
  control.addFault({
    kind: 'answer',
    operation: 'start_session',
    contains: locationId,
    effect: true,
    status: 201,
    body: startBody(sessionId),
    times: 1,
  });

/** Returns, for each row with a remote id, its owner and the columns that a response about another customer could change. */
export async function readOwners(database: Database): Promise<Map<string, string>> {
  const rows = await database.query<{ key: string; owner: string }>(`
    SELECT 'session ' || id AS key, concat_ws(' ', user_id, grid_location_id, brand, metadata, state, superseded_at, closed_at) AS owner
      FROM onboarding_sessions
     UNION ALL SELECT 'user ' || id, concat_ws(' ', tenant_reference, erased_at) FROM users
     UNION ALL SELECT 'location ' || id, concat_ws(' ', user_id, ean) FROM grid_locations
     UNION ALL SELECT 'inverter ' || id || ' of ' || session_id, first_seen_at::text FROM inverters`);
  return new Map(rows.map(({ key, owner }) => [key, owner]));
}

export const changed = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] =>
  [...before].flatMap(([key, owner]) =>
    after.get(key) === owner ? [] : [`${key}: ${owner} -> ${after.get(key)}`],
  );
