import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import {
  ABANDONED,
  FAILING,
  FOUR_HOURS,
  insertStory,
  MISSING_INVERTER,
  NO_BRAND,
  SECRETS,
  SESSION,
  SUPERSEDED,
  TEN_HOURS,
} from './story.js';
import { connectAsReader, type Reader } from '../reader.js';

type Row = Readonly<Record<string, unknown>>;
type Check = (rows: readonly Row[]) => void;

const ids = (rows: readonly Row[]) => rows.map((row) => row.session_id);
const containing = (rows: readonly object[]) => rows.map((row) => expect.objectContaining(row));

/** Checks the result of each query in docs/sql.md, by heading. */
const ANSWERS: Readonly<Record<string, Check>> = {
  'Why is this customer not online?': (rows) => {
    expect(ids(rows)).toEqual([FAILING, SESSION, SUPERSEDED]);
    expect(rows[0]).toMatchObject({
      waiting_for: 'the owner, to finish the web flow',
      stuck_reason: 'its last reads failed: no response within 10000 ms',
    });
    expect(rows[1]).toMatchObject({
      waiting_for: 'further inverters, until it is settled',
      stuck_reason: null,
    });
  },
  'Is this customer registered?': (rows) => {
    expect(rows).toEqual(containing([{ status: 'registered' }, { status: 'rejected' }]));
  },
  "Did this customer's starts go through?": (rows) => {
    expect(rows).toEqual(
      containing([
        {
          status: 'failed',
          brand: 'Gamma',
          last_error: 'rejected with 422: no such brand',
          session_id: null,
        },
        { status: 'started', attempts: 2, orphans: 1, session_id: SESSION },
      ]),
    );
  },
  'What happened to this session, in order?': (rows) => {
    expect(rows.map((row) => `${String(row.kind)}: ${String(row.summary)}`)).toEqual([
      'start: start requested; sent 2 time(s), 1 of them without a readable answer',
      'observation: start answered 200: finished=false active=true expired=false inverters=absent',
      'transition: new -> awaiting_owner (observed, by the rule as_started)',
      'event: announced session.started',
      'observation: read answered 200: finished=false active=true expired=false inverters=0',
      'transition: awaiting_owner -> awaiting_installation (inferred, by the rule updated_since_start)',
      'event: announced session.awaiting_installation',
      'observation: read answered 200: finished=false active=true expired=false inverters=0',
      'transition: awaiting_installation -> unrecognised (observed, by the rule undescribed_flags)',
      'event: announced session.unrecognised',
      'observation: read answered 200: finished=true active=false expired=false inverters=0',
      'transition: unrecognised -> online (observed, by the rule finished_with_inverters)',
      'event: announced session.online',
    ]);
  },
  'What did the remote service return, in full?': (rows) => {
    expect(rows.map((row) => row.led_to)).toEqual([
      'awaiting_owner',
      'awaiting_installation',
      'unrecognised',
      'online',
    ]);
    expect(rows[0]).toMatchObject({
      source: 'start',
      answer: { finished: false, active: true, expired: false, startUrl: null },
    });
  },
  'What is stuck, and why?': (rows) => {
    expect(rows).toEqual(
      containing([
        {
          kind: 'registration',
          tenant_reference: 'customer-3002',
          reason: 'it has been pending for over an hour: the Solar Curtailment Service cannot be reached',
        },
        { kind: 'session', id: FAILING, reason: 'its last reads failed: no response within 10000 ms' },
        { kind: 'session', id: ABANDONED, reason: 'its reader died, and no other worker has taken over' },
        { kind: 'registration', tenant_reference: 'customer-3001', reason: 'its outcome is unknown' },
      ]),
    );
  },
  'How many are stuck, by reason?': (rows) => {
    expect(rows.map(({ count }) => count)).toEqual(['1', '1', '1', '1']);
  },
  'Which registrations need a decision?': (rows) => {
    expect(rows).toEqual(
      containing([
        {
          tenant_reference: 'customer-3001',
          what_to_do: expect.stringMatching(/^Ask the provider .*\/resolve .*\/retry .*\/discard\.$/),
        },
        {
          tenant_reference: 'customer-3002',
          what_to_do: expect.stringMatching(/^Nothing: it is sent again by itself/),
        },
      ]),
    );
  },
  'Which responses of the remote service were not recognised?': (rows) => {
    expect(rows).toEqual(
      containing([
        { session_id: SESSION, finished: 'false', active: 'true', inverters: 0, state_now: 'online' },
      ]),
    );
  },
  'Whose start was sent more than once?': (rows) => {
    expect(rows).toEqual(
      containing([
        {
          tenant_reference: 'customer-1042',
          ean: '871687400000001042',
          attempts: 2,
          orphans: 1,
          session_id: SESSION,
        },
      ]),
    );
  },
  'Which inverters are missing?': (rows) => {
    expect(rows).toEqual(
      containing([{ inverter_id: MISSING_INVERTER, tenant_reference: 'customer-1042', session_id: SESSION }]),
    );
    const { last_seen_at, missing_since } = rows[0] as { last_seen_at: Date; missing_since: Date };
    expect(last_seen_at.getTime()).toBeLessThan(missing_since.getTime());
  },
  'Which inverters are listed for several customers?': (rows) => expect(rows).toEqual([]),
  'Which EANs have several references?': (rows) => expect(rows).toEqual([]),
  'Which brands has nobody finished?': (rows) => expect(rows).toEqual([]),
  'Was this event delivered?': (rows) => expect(rows.length).toBeGreaterThanOrEqual(0),
  'Which sessions expired and could still come online?': (rows) => expect(ids(rows)).toEqual([SUPERSEDED]),
  'Which grid locations have several sessions?': (rows) => {
    expect(rows).toEqual([
      {
        tenant_reference: 'customer-1042',
        ean: '871687400000001042',
        sessions: '3',
        brands: '2',
        superseded: '1',
        states: ['expired', 'online', 'awaiting_owner'],
      },
    ]);
  },
  'What came online yesterday?': (rows) => {
    expect(ids(rows)).toEqual([NO_BRAND, SESSION, FOUR_HOURS, TEN_HOURS]);
    expect(rows[1]).toMatchObject({ tenant_reference: 'customer-1042', inverters: '2' });
  },
  // The three sessions of brand Alpha took 2, 4 and 10 hours.
  'How long does it take from start to online?': (rows) => {
    expect(rows).toEqual(
      containing([
        {
          brand: 'Alpha',
          sessions: '3',
          median: expect.objectContaining({ hours: 4 }),
          p90: expect.objectContaining({ hours: 8, minutes: 48 }),
        },
        { brand: 'not named', sessions: '1', median: expect.objectContaining({ hours: 1 }) },
      ]),
    );
  },
  'Which sessions were inferred, and for how long?': (rows) => {
    expect(rows).toEqual(
      containing([
        {
          session_id: ABANDONED,
          rule: 'updated_since_start',
          until: null,
          state_now: 'awaiting_installation',
        },
        {
          session_id: SESSION,
          until: expect.any(Date),
          held_for: expect.objectContaining({ minutes: 30 }),
          state_now: 'online',
        },
      ]),
    );
  },
  'How far behind is the reading of sessions?': (rows) => {
    expect(rows[0]).toMatchObject({
      phase: 'all',
      watched: '4',
      due: '1',
      failing: '1',
      being_read: '1',
      expired_leases: '1',
    });
    const late = rows.find((row) => row.phase === 'awaiting_owner');
    expect(Number(late?.overdue_seconds_max)).toBeGreaterThanOrEqual(120);
    expect(Number(late?.overdue_seconds_max)).toBeLessThan(180);
    expect(rows.find((row) => row.phase === 'settling')).toMatchObject({
      due: '0',
      overdue_seconds_max: null,
    });
  },
  'What is known of the habits of each brand?': (rows) => {
    expect(rows).toEqual([
      {
        brand: 'acme',
        phase: 'late',
        known_changes: '1',
        stays: '2',
        half_within_seconds: expect.anything(),
      },
    ]);
    expect(Number(rows[0]!.half_within_seconds)).toBeCloseTo(33 * 1.65, 1);
  },
  'Who is reading right now?': (rows) => {
    expect(rows).toEqual(
      containing([
        { worker: 'host-a:11', batches: '2', claimed: '42', silent: false },
        { worker: 'host-b:22', batches: '1', claimed: '1', silent: true },
      ]),
    );
  },
  'Is the access token in order?': (rows) => {
    expect(rows).toEqual(
      containing([
        {
          present: true,
          rejected_at: expect.any(Date),
          failures: 2,
          last_error: 'the service refused a fresh token',
        },
      ]),
    );
  },
  'How do all replicas together find the remote service?': (rows) => {
    expect(rows).toEqual(
      containing([
        {
          operation: 'start_session',
          health: 'degraded',
          reason: 'status 503',
          quiet_until: expect.any(Date),
        },
        { operation: 'read_session', health: 'healthy', reason: null, quiet_until: null },
        { operation: 'register_user', health: 'healthy' },
        { operation: 'token', health: 'healthy' },
      ]),
    );
  },
  'Where do its responses differ from the interface description?': (rows) => {
    expect(rows).toEqual(
      containing([
        { kind: 'other_type', field: 'expired', expected: 'boolean', found: 'string' },
        { kind: 'new_field', field: 'inverters[].serialNumber', expected: null, found: 'string' },
      ]),
    );
  },
  'Which events were there in the last hour?': (rows) => {
    expect(rows).toEqual(
      containing([
        { name: 'inverter.online', events: '2' },
        { name: 'session.online', events: '1' },
      ]),
    );
  },
  'Which handlers are behind, and why?': (rows) => {
    expect(rows).toEqual(
      containing([
        {
          handler: 'Welcome.send',
          waiting: '2',
          failing: '1',
          name: 'session.online',
          attempts: 3,
          last_error: 'no mail server',
        },
      ]),
    );
  },
  'Why does this webhook endpoint get nothing?': (rows) => {
    expect(rows).toEqual([
      expect.objectContaining({
        endpoint_id: expect.any(String),
        origin: 'https://app.example',
        silent_because: expect.stringMatching(
          /^the last 12 attempts failed, the first of them at .*: see last_error$/,
        ),
        last_error: 'responded with 401',
        pending: '2',
        failed: '0',
      }),
    ]);
  },
  'Which webhooks have not arrived?': (rows) => {
    expect(rows).toEqual(
      containing([
        { endpoint: 'customer app', name: 'session.online', attempts: 3, last_error: 'responded with 401' },
        { endpoint: 'customer app', name: 'inverter.online', attempts: 0, last_error: null },
      ]),
    );
  },
  'How large are the tables?': (rows) => {
    expect(rows).toContainEqual(
      expect.objectContaining({
        name: 'onboarding_sessions',
        total: expect.stringMatching(/^\d+ kB$/),
        dead_rows: expect.stringMatching(/^\d+$/),
      }),
    );
    expect(rows).toHaveLength(15);
  },
  'Who did what?': (rows) => {
    expect(rows).toEqual(
      containing([
        { who: 'crm', action: 'registration.retried', details: { decision: 'retry', status: 'uncertain' } },
        { who: 'cli', action: 'api_key.revoked' },
      ]),
    );
  },
  'Which keys are valid, and which of them are used?': (rows) => {
    expect(rows).toEqual(
      containing([
        { name: 'unused', last_used_at: null },
        { name: 'crm', last_used_at: expect.any(Date) },
      ]),
    );
  },
  'Which keys are refused?': (rows) => {
    expect(rows).toEqual([expect.objectContaining({ name: 'old app', refused_401: '7', refused_429: '0' })]);
  },
  'What is stored about this customer?': (rows) => {
    expect(rows).toEqual(
      containing([
        {
          tenant_reference: 'customer-1042',
          first_name: 'canary-name',
          eans: ['871687400000001042'],
          sessions: '3',
        },
      ]),
    );
  },
};

async function readQuestions(): Promise<Map<string, string>> {
  const text = await readFile(new URL('../../../docs/sql.md', import.meta.url), 'utf8');
  const sections = text.split(/^#{2,3} /m).slice(1);
  const questions = sections.flatMap((section) => {
    const [heading = ''] = section.split('\n', 1);
    return [...section.matchAll(/^```sql\n(.*?)^```/gms)].map(([, sql = '']) => [heading, sql] as const);
  });
  expect(new Set(questions.map(([heading]) => heading)).size).toBe(questions.length);
  return new Map(questions);
}

describe('docs/sql.md', () => {
  let database: TestDatabase;
  let reader: Reader;
  let questions: Map<string, string>;

  beforeAll(async () => {
    // Some questions ask for yesterday.
    const restOfDayMs = 86_400_000 - (Date.now() % 86_400_000);
    if (restOfDayMs < 60_000) await sleep(restOfDayMs + 100);
    questions = await readQuestions();
    database = await createTestDatabase();
    const writer = new pg.Client({ connectionString: database.url, options: '-c timezone=UTC' });
    await writer.connect();
    await insertStory(writer);
    await writer.end();
    reader = await connectAsReader(database.url);
    await reader.client.query(`SET timezone = 'UTC'`);
  }, 120_000);
  afterAll(async () => {
    await reader.close();
    await database.drop();
  });

  it('lists every view', async () => {
    const text = await readFile(new URL('../../../docs/sql.md', import.meta.url), 'utf8');
    const lists = text.slice(0, text.indexOf('\n## ')).match(/^- .*$/gm) ?? [];
    const { rows } = await reader.client.query<Row>(
      `SELECT viewname AS name FROM pg_views WHERE schemaname = 'admin' ORDER BY 1`,
    );
    const listed = lists.flatMap((line) => [...line.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name));
    expect(listed.sort()).toEqual(rows.map(({ name }) => name));
  });

  it('has exactly the questions that are tested here', () => {
    expect([...questions.keys()].sort()).toEqual(Object.keys(ANSWERS).sort());
  });

  it.each(Object.entries(ANSWERS))('answers: %s', async (heading, check) => {
    const { rows } = await reader.client.query<Row>(questions.get(heading) ?? '');
    check(rows);
  });

  it('shows no secret in any view, and personal data in admin.users only', async () => {
    const { rows: views } = await reader.client.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.views WHERE table_schema = 'admin'`,
    );
    const shown: string[] = [];
    for (const { name } of views) {
      const { rows } = await reader.client.query(`SELECT * FROM admin.${name}`);
      const text = JSON.stringify(rows);
      shown.push(...SECRETS.filter((secret) => text.includes(secret)).map((secret) => `${name}: ${secret}`));
    }
    expect(shown.sort()).toEqual(['users: canary-metadata', 'users: canary-name']);
  });
});
