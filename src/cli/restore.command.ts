import { Command } from 'commander';
import { recordAudit } from '../access/audit-log.store.js';
import { recordRestore } from '../events/sequence.sql.js';
import type { Database } from '../platform/database/database.js';
import { isServiceRunning, moveHome } from '../platform/database/deployment.store.js';
import {
  confirmReferences,
  movePendingToUncertain,
} from '../users/registration/unchecked-references.store.js';
import { ACTOR, withDatabase, type ReadEnvironment } from './command-environment.js';
import { fail, print } from './print.js';

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
    .action((options: Options) => {
      if (Object.keys(options).length !== 1)
        return fail('Give one of --confirm, --moved and --references-checked.', 2);
      return withDatabase(readEnvironment, (database) => run(database, options));
    });
}

async function run(database: Database, { confirm, moved }: Options): Promise<void> {
  if ((confirm || moved) && (await isServiceRunning(database)))
    return fail('The service is running on this database: stop it first.');
  if (confirm) {
    const uncertain = await confirmRestore(database);
    return print(`${uncertain} pending registrations are uncertain now; new ones wait for a person`);
  }
  const isDone = await database.transaction(async (tx) => {
    if (!moved && !(await confirmReferences(tx))) return false;
    if (moved) await moveHome(tx);
    await recordAudit(tx, { actor: ACTOR, action: moved ? 'database.moved' : 'references.checked' });
    return true;
  });
  if (!isDone) return fail('There is no restore with unchecked references.');
  print(moved ? 'the service now starts on this database' : 'registrations are now sent as usual');
}

const confirmRestore = (database: Database): Promise<number> =>
  database.transaction(async (tx) => {
    await moveHome(tx);
    await recordRestore(tx);
    const uncertain = await movePendingToUncertain(tx);
    await recordAudit(tx, { actor: ACTOR, action: 'database.restored', details: { uncertain } });
    return uncertain;
  });
