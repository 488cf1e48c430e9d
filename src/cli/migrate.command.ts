import { Command } from 'commander';
import { migrate } from '../platform/database/migrations/migrate.js';
import { planMigrations } from '../platform/database/migrations/plan.store.js';
import { checkPoolers } from '../platform/database/poolers.js';
import type { ReadEnvironment } from './command-environment.js';
import { JSON_OPTION, print, printJson } from './print.js';

export function migrateCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('migrate')
    .description('apply the missing migrations to the database')
    .option(
      '--plan',
      'print the missing migrations and the table locks that make reads or writes wait; change nothing',
    )
    .option(...JSON_OPTION)
    .action(async ({ plan, json }: { plan?: boolean; json?: boolean }) => {
      const environment = await readEnvironment();
      await checkPoolers(environment);
      if (plan) {
        const planned = await planMigrations(environment.DATABASE_DIRECT_URL);
        return json ? printJson({ planned }) : printPlan(planned);
      }
      const applied = await migrate(environment.DATABASE_DIRECT_URL);
      if (json) printJson({ applied });
      else print(applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`);
    });
}

function printPlan(planned: Awaited<ReturnType<typeof planMigrations>>): void {
  if (planned.length === 0) print('nothing to apply');
  for (const { name, locks } of planned) {
    print(name);
    for (const { mode, relation, rows, bytes, statement } of locks)
      print(`  ${mode} on ${relation} (about ${rows} rows, ${megabytes(bytes)} MB): ${statement}`);
  }
}

const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
