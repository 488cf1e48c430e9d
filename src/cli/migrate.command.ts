import { Command } from 'commander';
import { migrate } from '../platform/database/migrations/migrate.js';
import { checkPoolers } from '../platform/database/connection/poolers.js';
import type { ReadEnvironment } from './command-environment.js';
import { JSON_OPTION, print, printJson } from './print.js';

export function migrateCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('migrate')
    .description('apply the missing migrations to the database')
    .option(...JSON_OPTION)
    .action(async ({ json }: { json?: boolean }) => {
      const environment = await readEnvironment();
      await checkPoolers(environment);
      const applied = await migrate(environment.DATABASE_DIRECT_URL);
      if (json) printJson({ applied });
      else print(applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`);
    });
}
