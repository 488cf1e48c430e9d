import { Command } from 'commander';
import { migrate } from '../platform/database/migrate.js';
import { planMigrations } from '../platform/database/migration-plan.store.js';
import { checkPoolers } from '../platform/database/poolers.js';
import type { ReadEnvironment } from './command-environment.js';
import { print } from './print.js';

export function migrateCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('migrate')
    .description('apply the missing migrations to the database')
    .option(
      '--plan',
      'print the missing migrations and the locks of tables that make others wait; change nothing',
    )
    .action(async ({ plan }: { plan?: boolean }) => {
      const environment = await readEnvironment();
      await checkPoolers(environment);
      if (plan) return printPlan(environment.DATABASE_DIRECT_URL);
      const applied = await migrate(environment.DATABASE_DIRECT_URL);
      print(applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`);
    });
}

async function printPlan(databaseUrl: string): Promise<void> {
  const planned = await planMigrations(databaseUrl);
  if (planned.length === 0) print('nothing to apply');
  for (const { name, locks } of planned) {
    print(name);
    for (const { mode, relation, rows, bytes, statement } of locks)
      print(`  ${mode} on ${relation} (about ${rows} rows, ${megabytes(bytes)} MB): ${statement}`);
  }
}

const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
