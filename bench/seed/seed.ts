import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { newestSequence } from '../../src/events/sequence.sql.js';
import { invitationStalls, STARTS_OF_OWNERS } from '../../src/invitations/invitation-stalls.store.js';
import { INVERTER_STALLS } from '../../src/inverters/inverter-stalls.store.js';
import { sessionStalls } from '../../src/onboarding/stalls/session-stalls.store.js';
import { Cipher } from '../../src/platform/crypto/cipher.js';
import { Database } from '../../src/platform/database/database.js';
import { migrate } from '../../src/platform/database/migrations/migrate.js';
import type { Environment } from '../../src/platform/env/environment.js';
import { readEnvironment, STAND_INS } from '../../src/platform/env/read-environment.js';
import { StallKinds } from '../../src/stalls/stall-kinds.js';
import { StallsStore } from '../../src/stalls/stalls.store.js';
import { REGISTRATION_STALLS } from '../../src/users/registration/registration-stalls.store.js';
import { ENDPOINT_STALLS } from '../../src/webhooks/endpoints/endpoint-stalls.store.js';
import { newWebhookSecret, WebhookSealing } from '../../src/webhooks/secrets/sealing.service.js';
import {
  invitationStatements,
  makeDue,
  registrationStatements,
  sessionStatements,
  WATCHED_TABLES,
} from './population.sql.js';

/** Subjects of one transaction: limits its memory. */
const AT_ONCE = 50_000;
/** The service looks at fewer at once, since a change of one of them waits for the rest. */
const LOOKS_AT_ONCE = 500;
const LOOK_WITHIN_MS = 60_000;
/** Processes of PostgreSQL that look for stalls. */
const LOOKERS = 3;

/** Everything but the sessions is in proportion to them. */
const INVITED_PER_SESSION = 0.1;

interface Seeding {
  readonly sessions: number;
  /** Whether the database may already have users. */
  readonly force: boolean;
  readonly say: (line: string) => void;
}

/** Fills the database of DATABASE_URL. Throws an Error for people if a variable is missing, or if the database has users. */
export async function seedDatabase(source: NodeJS.ProcessEnv, seeding: Seeding): Promise<void> {
  for (const name of ['DATABASE_URL', 'ENCRYPTION_KEYS'])
    if (!source[name])
      throw new Error(`Set ${name}, as for the service that will read the database. No .env file is read.`);
  await seed(readEnvironment({ ...STAND_INS, ...source }), seeding);
}

/** Fills a database with subjects of every kind and state, three in ten of them stalled. */
export async function seed(environment: Environment, { sessions, force, say }: Seeding): Promise<void> {
  await migrate(environment.DATABASE_DIRECT_URL);
  const client = new pg.Client({ connectionString: environment.DATABASE_DIRECT_URL });
  await client.connect();
  const database = new Database(environment);
  database.outcomeResponseWithinMs = LOOK_WITHIN_MS;
  try {
    const { users: place, name, host } = await describe(client);
    if (place > 0 && !force)
      throw new Error(`Database ${name} on ${host} has users. --force adds the population to them.`);
    const invited = Math.ceil(sessions * INVITED_PER_SESSION);
    say(
      `Adds ${sessions} customers with a session each and ${invited} with an invitation each to database ${name} on ${host}. ` +
        'Nothing is due for a day.',
    );
    await inParts(sessions, async (from, to) => {
      await insert(client, sessionStatements(from, to, place));
      say(`${to + 1} sessions inserted`);
    });
    await inParts(invited, (from, to) => insert(client, invitationStatements(from, to, place + sessions)));
    await insert(client, registrationStatements(sessions, place));
    await insertEndpoints(
      client,
      new WebhookSealing(new Cipher(environment)),
      await newestSequence(database),
    );
    await client.query('ANALYZE');
    await lookForStalls(new StallsStore(database, declaredKinds(environment)), say);
    await client.query('VACUUM ANALYZE');
  } finally {
    await database.onApplicationShutdown();
    await client.end();
  }
}

/** Counts the users to the end, since their number is also the first of the new ones. */
async function describe(client: pg.Client) {
  const [row] = (
    await client.query<{ users: number; name: string }>(
      'SELECT count(*)::int AS users, current_database() AS name FROM users',
    )
  ).rows;
  return { ...row!, host: client.host };
}

async function inParts(count: number, work: (from: number, to: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) await work(from, Math.min(from + AT_ONCE, count) - 1);
}

/** Runs the statements in one transaction, without the triggers that make subjects due: the statements do it for all at once. */
async function insert(client: pg.ClientBase, statements: readonly string[]): Promise<void> {
  const all = (action: string) =>
    WATCHED_TABLES.map((table) => `ALTER TABLE ${table} ${action} TRIGGER USER`).join(';');
  await client.query(`BEGIN; SET LOCAL synchronous_commit = off; ${all('DISABLE')}`);
  for (const statement of statements) await client.query(statement);
  await client.query(`${all('ENABLE')}; COMMIT`);
}

/** Returns the kinds that the modules of the service declare. */
export const declaredKinds = (environment: Environment): StallKinds => {
  const kinds = new StallKinds();
  kinds.declare(REGISTRATION_STALLS);
  kinds.declare(STARTS_OF_OWNERS);
  kinds.declare(sessionStalls(environment));
  kinds.declare(INVERTER_STALLS);
  kinds.declare(invitationStalls(environment));
  kinds.declare(ENDPOINT_STALLS);
  return kinds;
};

/** Looks at all due subjects by the rules of the service, so that the stalls and their events are those that the service would write. */
async function lookForStalls(store: StallsStore, say: Seeding['say']): Promise<void> {
  await store.writeCauses();
  let looked = 0;
  const look = async () => {
    for (let count = LOOKS_AT_ONCE; count > 0;) {
      count = await store.lookAtDue(LOOKS_AT_ONCE);
      looked += count;
      if (count > 0) say(`looked at ${looked} subjects`);
    }
  };
  await Promise.all(Array.from({ length: LOOKERS }, look));
  await store.mergeCounts();
}

const ENDPOINTS = [
  { description: 'fails', failures: 5, failingHours: 2, disabledReason: null },
  { description: 'is gone', failures: 1, failingHours: 20, disabledReason: 'gone' },
  { description: 'was disabled after failures', failures: 90, failingHours: 100, disabledReason: 'failing' },
  { description: 'is disabled', failures: 0, failingHours: null, disabledReason: 'requested' },
];

async function insertEndpoints(
  client: pg.ClientBase,
  sealing: WebhookSealing,
  readTo: string,
): Promise<void> {
  for (const { description, failures, failingHours, disabledReason } of ENDPOINTS) {
    const id = randomUUID();
    const secret = sealing.sealSecret(id, newWebhookSecret());
    await client.query(
      `INSERT INTO webhook_endpoints (id, url, types, description, secret_ciphertext, read_to, failures, failing_since, disabled_reason,
         disabled_at, created_at, created_by, quiet_until)
       VALUES ($1, 'https://receiver.invalid/hooks', '{registration.discarded}', $2, $3, $4, $5, now() - $6::int * interval '1 hour', $7,
         CASE WHEN $7::text IS NOT NULL THEN now() - interval '30 minutes' END, now() - interval '200 hours', 'bench', NULL)`,
      [id, description, secret, readTo, failures, failingHours, disabledReason],
    );
    await client.query(makeDue('endpoint', `SELECT '${id}'::uuid`));
  }
}
