import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useTestDatabase } from '../../setup/test-database.js';
import { GENERATE_SESSIONS } from './data.js';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

/** Enough rows for the planner to prefer an index. */
const SESSIONS = 5_000;
/** Tables that stay small, so a plan may scan them sequentially. */
const SMALL = ['poll_batches', 'remote_operations', 'api_keys', 'webhook_endpoints', 'webhook_subjects'];

const QUERIES: Readonly<Record<string, string>> = {
  'what happened to a session': 'session_timeline WHERE session_id = $session ORDER BY at, step, number',
  'the responses about a session': 'session_observations WHERE session_id = $session',
  'the transitions of a session': 'session_transitions WHERE session_id = $session',
  'the inverters of a session': 'inverters WHERE session_id = $session',
  'the start of a session': 'session_starts WHERE session_id = $session',
  'the events of a session': 'events WHERE subject = $session::text ORDER BY position',
  'a session by its id': 'sessions WHERE session_id = $session',
  'the sessions of a customer': `sessions WHERE tenant_reference = 'customer-77'`,
  'the sessions of an EAN': `sessions WHERE ean = '871687400000000077'`,
  'the sessions of a user':
    'sessions WHERE user_id = (SELECT user_id FROM onboarding_sessions WHERE id = $session)',
  'the sessions of a grid location':
    'sessions WHERE grid_location_id = (SELECT grid_location_id FROM onboarding_sessions WHERE id = $session)',
  'the sessions that changed lately': `sessions WHERE changed_at > now() - interval '3 minutes'`,
  'the starts of a customer': `session_starts WHERE tenant_reference = 'customer-77'`,
  'a customer': `users WHERE tenant_reference = 'customer-77'`,
  'the registrations of a customer': `registrations WHERE tenant_reference = 'customer-77'`,
  'the open registrations': 'registrations_open ORDER BY created_at LIMIT 50',
  'the uncertain registrations': `registrations_open WHERE status = 'uncertain'`,
  'what came online in ten minutes': `session_transitions
    WHERE to_state = 'online' AND at >= now() - interval '20 minutes' AND at < now() - interval '10 minutes'`,
  'the webhook endpoints': 'webhook_endpoints',
  'the webhooks about a session': 'webhook_deliveries WHERE subject = $session::text',
  'the webhooks of an endpoint that failed': `webhook_deliveries
    WHERE endpoint_id = (SELECT id FROM webhook_endpoints LIMIT 1) AND status = 'failed' ORDER BY created_at DESC LIMIT 50`,
  'what has no sequence yet': 'events WHERE sequence IS NULL',
};

function wholeScansOf(plan: Plan): string[] {
  const below = (plan.Plans ?? []).flatMap(wholeScansOf);
  const table = plan['Relation Name'];
  return plan['Node Type'] === 'Seq Scan' && table !== undefined && !SMALL.includes(table)
    ? [table, ...below]
    : below;
}

const relationsOf = (plan: Plan): string[] => [
  ...(plan['Relation Name'] === undefined ? [] : [plan['Relation Name']]),
  ...(plan.Plans ?? []).flatMap(relationsOf),
];

describe('the views of admin, with many sessions', () => {
  const database = useTestDatabase();
  let client: pg.Client;
  let session: string;

  beforeAll(async () => {
    client = await database.connect();
    for (const sql of GENERATE_SESSIONS) await client.query(sql.replace('$1', String(SESSIONS)));
    const { rows } = await client.query<{ id: string }>(
      'SELECT id FROM onboarding_sessions OFFSET 100 LIMIT 1',
    );
    session = rows[0]!.id;
  });

  async function explain(sql: string): Promise<Plan> {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`EXPLAIN (FORMAT JSON) ${sql}`);
    return rows[0]!['QUERY PLAN'][0].Plan;
  }

  it.each(Object.entries(QUERIES))('find %s by an index', async (_what, query) => {
    const sql = `SELECT * FROM admin.${query.replaceAll('$session', `'${session}'`)}`;
    await expect(client.query(sql)).resolves.toBeDefined();
    expect(wholeScansOf(await explain(sql))).toEqual([]);
  });

  it('read no table whose columns are not selected', async () => {
    const plan = await explain('SELECT state, count(*) FROM admin.sessions GROUP BY state');
    expect(relationsOf(plan)).toEqual(['onboarding_sessions']);
  });
});
