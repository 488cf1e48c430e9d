import pg from 'pg';
import { certificateFault } from '../../crypto/certificate-fault.js';
import type { Environment } from '../../env/environment.js';
import { ConfigurationError } from '../../env/configuration-error.js';
import { sqlState } from '../sql-state.js';

/** How often each check probes. One probe may miss a pooler, because another client may get the connection in between. */
const ROUNDS = 3;
const PREPARED = { name: 'pv_onboarding_probe', text: 'SELECT 1' };
const MISSING_OR_FOREIGN = ['26000', '42P05'];
const UNAUTHORISED = '28000';
const TIMEOUTS = { connectionTimeoutMillis: 5_000, query_timeout: 5_000 };

const refused = (problem: string): Error => new ConfigurationError([problem], []);

/** Throws ConfigurationError if a pooler between the service and PostgreSQL would lose notifications or statements. */
export async function checkPoolers(environment: Environment): Promise<void> {
  const { DATABASE_URL, DATABASE_DIRECT_URL, DATABASE_PREPARED_STATEMENTS } = environment;
  const isSeparate = DATABASE_DIRECT_URL !== DATABASE_URL;
  const direct = isSeparate ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  if (await withTwoClients(direct, DATABASE_DIRECT_URL, shareConnections))
    throw refused(
      `${direct} leads through a transaction pooler; set DATABASE_DIRECT_URL to an address without one, because notifications ` +
        'and migrations need connections of their own',
    );
  if (!isSeparate) return;
  const pooled = await withTwoClients('DATABASE_URL', DATABASE_URL, async (one, other) => {
    if (DATABASE_PREPARED_STATEMENTS && !(await keepStatements(one, other)))
      throw refused(
        'DATABASE_URL leads through a pooler without prepared statements; set DATABASE_PREPARED_STATEMENTS=false',
      );
    await useTransactions(other);
    return identityOf(one);
  });
  if (pooled !== (await withTwoClients(direct, DATABASE_DIRECT_URL, identityOf)))
    throw refused('DATABASE_DIRECT_URL leads to another database than DATABASE_URL');
}

/** Returns whether a pooler gives both clients the same connection of PostgreSQL, or gives one client several connections. */
async function shareConnections(one: pg.Client, other: pg.Client): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round++) {
    const before = await pidOf(one);
    await other.query('BEGIN');
    if ((await pidOf(other)) === before || (await pidOf(one)) !== before) return true;
    await other.query('ROLLBACK');
  }
  return false;
}

/** Throws ConfigurationError if a pooler in statement mode ends the connection that begins a transaction. */
async function useTransactions(client: pg.Client): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query('ROLLBACK');
  } catch (error) {
    throw refused(
      `DATABASE_URL leads through a pooler that refuses transactions: ${(error as Error).message}`,
    );
  }
}

async function pidOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid;
}

/** Returns whether both clients can prepare and run statements of the same name. */
async function keepStatements(one: pg.Client, other: pg.Client): Promise<boolean> {
  try {
    for (let round = 0; round < ROUNDS; round++)
      for (const client of [one, other]) await client.query(PREPARED);
    return true;
  } catch (error) {
    if (MISSING_OR_FOREIGN.includes(sqlState(error) ?? '')) return false;
    throw error;
  }
}

/** Identifies a database by its cluster and its oid. */
const IDENTITY = `
  SELECT concat_ws('/', system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database())) AS identity
  FROM pg_control_system()`;

async function identityOf(client: pg.Client): Promise<string> {
  return (await client.query<{ identity: string }>(IDENTITY)).rows[0]!.identity;
}

async function withTwoClients<T>(
  variable: string,
  connectionString: string,
  work: (one: pg.Client, other: pg.Client) => Promise<T>,
): Promise<T> {
  const clients: pg.Client[] = [];
  const connect = async (): Promise<pg.Client> => {
    // The constructor reads the files that the URL names, and throws if a file is missing.
    const client = new pg.Client({ connectionString, ...TIMEOUTS, application_name: 'pv-onboarding start' });
    // Without a handler, a lost connection would end the process.
    client.on('error', () => {});
    clients.push(client);
    await client.connect();
    return client;
  };
  const refuse = (error: Error & { code?: string }): never => {
    throw refused(`${variable} cannot be used to connect to PostgreSQL: ${faultOf(error)}`);
  };
  try {
    return await work(await connect().catch(refuse), await connect().catch(refuse));
  } finally {
    await Promise.allSettled(clients.map((client) => client.end()));
  }
}

/** Returns why a connection failed. If TLS is the reason, also returns the remedy. */
function faultOf({ message, code }: Error & { code?: string }): string {
  const fault = certificateFault(
    code,
    'sslrootcert; if the URL has no sslrootcert, NODE_EXTRA_CA_CERTS also works',
  );
  if (fault !== undefined) return fault;
  if (message === 'The server does not support SSL connections')
    return 'it does not support TLS: turn it on there (ssl = on), or set sslmode=disable';
  if (code === UNAUTHORISED && message.endsWith('no encryption'))
    return `${message}: if it requires TLS, set sslmode=verify-full`;
  // If several addresses were tried, the error has no message.
  return message || (code ?? 'no address could be reached');
}
