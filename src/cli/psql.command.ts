import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { findReaderFault, READER_ROLE, type ReaderFault } from '../platform/database/reader-role.store.js';
import type { Environment } from '../platform/env/environment.js';
import type { EnvironmentSource } from '../platform/env/environment-names.js';
import { findPasswordPlace } from '../local/local-services.js';
import { withDatabase, type ReadEnvironment } from './command-environment.js';
import { CommandError } from './command-error.js';
import { print, printError } from './print.js';

/** The same settings as those of a login made by admin.add_reader. */
const SETTINGS = {
  role: READER_ROLE,
  default_transaction_read_only: 'on',
  statement_timeout: '30s',
  idle_in_transaction_session_timeout: '60s',
};
const OPTIONS = Object.entries(SETTINGS)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');

export function psqlCommand(readEnvironment: ReadEnvironment, source: EnvironmentSource): Command {
  return new Command('psql')
    .description('open the database in psql as pv_onboarding_reader, for the questions of docs/sql.md')
    .option('-c, --command <sql>', 'run only this statement')
    .action(({ command }: { command?: string }) =>
      withDatabase(readEnvironment, async (database, environment) => {
        const fault = await findReaderFault(database);
        if (fault === null) return openPsql(environment, source, command);
        const why = fault.detail === undefined ? '' : ` (${fault.detail})`;
        throw new CommandError(
          'no_reader',
          `The user ${fault.user} of DATABASE_URL cannot read as ${READER_ROLE}${why}: ${adviceFor(fault, environment)}`,
        );
      }),
    );
}

function adviceFor({ kind, user, owner }: ReaderFault, { NODE_ENV }: Environment): string {
  switch (kind) {
    case 'not_migrated':
      return NODE_ENV === 'production'
        ? 'the service has never run on this database. Start it, or run `migrate`.'
        : 'the service has never run on this database. Run `npm start` first.';
    case 'no_role':
      return `the role does not exist. Run CREATE ROLE ${READER_ROLE} NOLOGIN; as a superuser, and then SELECT admin.grant_reader(); as ${owner}.`;
    case 'not_member':
      return `run GRANT ${READER_ROLE} TO ${user}; as a superuser, or make a login for readers, as in docs/sql.md.`;
    case 'not_granted':
      return `run SELECT admin.grant_reader(); as ${owner}, for example after a restore on another server.`;
  }
}

async function openPsql(
  environment: Environment,
  source: EnvironmentSource,
  command?: string,
): Promise<void> {
  const { url, password } = addressOf(environment);
  const psql = spawn('psql', command === undefined ? [url] : [url, '--command', command], {
    stdio: 'inherit',
    env: { ...source, PGOPTIONS: OPTIONS, ...(password !== '' && { PGPASSWORD: password }) },
  });
  // Ctrl-C cancels a statement in psql, which has the same terminal.
  process.on('SIGINT', () => {});
  const ended = await once(psql, 'exit').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    const place = await findPasswordPlace(resolve('.data'), password);
    const asked = place === undefined ? 'the password' : `the password, which is ${place}`;
    printError(`psql is not on the path. Install it, or run this where it is; it asks for ${asked}:`);
    print(`PGOPTIONS='${OPTIONS}' psql '${url}'`);
    return [1];
  });
  if (ended[0] !== 0) process.exitCode = 1;
}

/** Returns the address without the password, because every user of the machine can read a command line. */
function addressOf({ DATABASE_DIRECT_URL }: Environment): { url: string; password: string } {
  const url = new URL(DATABASE_DIRECT_URL);
  const password = decodeURIComponent(url.password);
  url.password = '';
  // Known to Node's driver, but not to psql.
  if (url.searchParams.get('sslmode') === 'no-verify') url.searchParams.set('sslmode', 'require');
  return { url: url.href, password };
}
