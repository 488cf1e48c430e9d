import { Command } from 'commander';
import { migrate } from '../platform/database/migrate.js';
import type { Environment } from '../platform/env/environment.js';

/** `migrate`: what the start of the service does as well, for those who want it done before. */
export function migrateCommand(environment: () => Promise<Environment>): Command {
  return new Command('migrate')
    .description('bring the schema of the database up to date')
    .action(async () => {
      const applied = await migrate((await environment()).DATABASE_URL);
      console.log(applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`);
    });
}
