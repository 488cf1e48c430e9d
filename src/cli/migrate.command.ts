import { Command } from 'commander';
import { migrate } from '../platform/database/migrate.js';
import type { ReadEnvironment } from './command-database.js';
import { print } from './print.js';

/** `migrate`: applies the migrations before the service starts, which would otherwise apply them. */
export function migrateCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('migrate')
    .description('bring the schema of the database up to date')
    .action(async () => {
      const applied = await migrate((await readEnvironment()).DATABASE_URL);
      print(applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`);
    });
}
