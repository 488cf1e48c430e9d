import { Command } from 'commander';
import { recordAudit } from '../access/audit-log.store.js';
import { recordRestore } from '../events/sequence.sql.js';
import type { Database } from '../platform/database/database.js';
import { isServiceRunning, moveHome } from '../platform/database/deployment.store.js';
import {
  confirmReferences,
  movePendingToUncertain,
} from '../users/registration/unchecked-references.store.js';
import { CommandError } from './command-error.js';
import { ACTOR, withDatabase, type ReadEnvironment } from './command-environment.js';
import { JSON_OPTION, print, printJson } from './print.js';

interface Options {
  readonly confirm?: boolean;
  readonly moved?: boolean;
  readonly referencesChecked?: boolean;
}

/** Returns the command that declares a database to be a restored backup or a moved copy, so that the service starts on it. */
export function restoreCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('restore')
    .description('let the service start on a restored or copied database; stop the original first')
    .option('--confirm', 'the database is a restored backup: pending and new registrations wait for a person')
    .option('--moved', 'the service was stopped before the copy was made and has not run since')
    .option(
      '--references-checked',
      'everything registered after the backup was found: send registrations as usual',
    )
    .option(...JSON_OPTION)
    .action(({ json, ...options }: Options & { json?: boolean }) => {
      if (Object.keys(options).length !== 1)
        throw new CommandError('usage', 'Give one of --confirm, --moved and --references-checked.', 2);
      return withDatabase(readEnvironment, async (database) => {
        const done = await run(database, options);
        if (json) printJson(done);
        else print(textOf(done));
      });
    });
}

interface Done {
  /** As in the audit log. */
  readonly action: 'database.restored' | 'database.moved' | 'references.checked';
  readonly uncertain?: number;
}

async function run(database: Database, { confirm, moved }: Options): Promise<Done> {
  if ((confirm || moved) && (await isServiceRunning(database)))
    throw new CommandError('service_running', 'The service is running on this database: stop it first.');
  if (confirm) return { action: 'database.restored', uncertain: await confirmRestore(database) };
  const action = moved ? 'database.moved' : 'references.checked';
  await database.transaction(async (tx) => {
    if (moved) await moveHome(tx);
    else if (!(await confirmReferences(tx)))
      throw new CommandError('no_restore', 'There is no restore with unchecked references.');
    await recordAudit(tx, { actor: ACTOR, action });
  });
  return { action };
}

function textOf({ action, uncertain }: Done): string {
  switch (action) {
    case 'database.restored':
      return `${uncertain} pending registrations are uncertain now; new ones wait for a person`;
    case 'database.moved':
      return 'the service now starts on this database';
    case 'references.checked':
      return 'registrations are now sent as usual';
  }
}

const confirmRestore = (database: Database): Promise<number> =>
  database.transaction(async (tx) => {
    await moveHome(tx);
    await recordRestore(tx);
    const uncertain = await movePendingToUncertain(tx);
    await recordAudit(tx, { actor: ACTOR, action: 'database.restored', details: { uncertain } });
    return uncertain;
  });
