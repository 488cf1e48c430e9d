import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Command } from 'commander';
import type { Environment } from '../platform/env/environment.js';
import type { EnvironmentSource } from '../platform/env/environment-names.js';
import type { ReadEnvironment } from './command-environment.js';
import { CommandError } from './command-error.js';
import { printError } from './print.js';

/** The settings that admin.add_reader gives to a login. */
const OPTIONS = [
  '-c role=pv_onboarding_reader',
  '-c default_transaction_read_only=on',
  '-c statement_timeout=30s',
  '-c idle_in_transaction_session_timeout=60s',
].join(' ');
/** The exit code of psql if it cannot connect, for example because the user of DATABASE_URL may not take the role. */
const NOT_CONNECTED = 2;

export function psqlCommand(readEnvironment: ReadEnvironment, source: EnvironmentSource): Command {
  return new Command('psql')
    .description('open the database in psql as pv_onboarding_reader, for the questions of docs/sql.md')
    .option('-c, --command <sql>', 'run only this statement')
    .action(async ({ command }: { command?: string }) => {
      const { url, password } = addressOf(await readEnvironment());
      const psql = spawn('psql', command === undefined ? [url] : [url, '--command', command], {
        stdio: 'inherit',
        env: { ...source, PGOPTIONS: OPTIONS, ...(password !== '' && { PGPASSWORD: password }) },
      });
      // Ignores Ctrl-C, so that it only cancels a statement in psql, which has the same terminal.
      process.on('SIGINT', () => {});
      const ended = await once(psql, 'exit').catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        throw new CommandError(
          'no_psql',
          `psql is not on the path. Install it, or run this where it is: PGOPTIONS='${OPTIONS}' psql '${url}'`,
        );
      });
      if (ended[0] === NOT_CONNECTED)
        printError('docs/sql.md says what the user of DATABASE_URL needs to read as pv_onboarding_reader.');
      if (ended[0] !== 0) process.exitCode = 1;
    });
}

/** Separates the password from the address, because every user of the machine can read a command line. */
function addressOf({ DATABASE_DIRECT_URL }: Environment): { url: string; password: string } {
  const url = new URL(DATABASE_DIRECT_URL);
  const password = decodeURIComponent(url.password);
  url.password = '';
  // psql does not know `no-verify`, which is a value of Node's driver.
  if (url.searchParams.get('sslmode') === 'no-verify') url.searchParams.set('sslmode', 'require');
  return { url: url.href, password };
}
