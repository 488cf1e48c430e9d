import { readdir } from 'node:fs/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Database, sqlState } from '../database/database.js';
import { MIGRATIONS_FOLDER } from '../database/migrate.js';
import { isDatabaseUnavailable } from '../problem/database-unavailable.js';

/** A probe that takes longer than its prober waits (usually 1 s) is useless. */
const PROBE_MS = 900;
const UNDEFINED_TABLE = '42P01';

const APPLIED = {
  name: 'health-applied-migrations',
  text: 'SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
};

/** Decides whether this process can do its work now. */
@Injectable()
export class Health implements OnModuleDestroy {
  private draining = false;

  constructor(private readonly database: Database) {}

  /** Returns what is missing, in words; empty if the process is ready. */
  async missing(): Promise<string[]> {
    if (this.draining) return ['the service is stopping'];
    const timeout = AbortSignal.timeout(PROBE_MS);
    const late = new Promise<string[]>((resolve) => {
      timeout.addEventListener('abort', () =>
        resolve([`the database has not answered within ${PROBE_MS} ms`]),
      );
    });
    return Promise.race([this.missingMigrations(), late]);
  }

  // The first of Nest's shutdown hooks: load balancers stop sending requests while the open ones still complete.
  onModuleDestroy(): void {
    this.draining = true;
  }

  private async missingMigrations(): Promise<string[]> {
    try {
      const [entries, applied] = await Promise.all([
        readdir(MIGRATIONS_FOLDER, { withFileTypes: true }),
        this.database.query<{ name: string }>(APPLIED),
      ]);
      const names = new Set(applied.map(({ name }) => name));
      return entries
        .filter((entry) => entry.isDirectory() && !names.has(entry.name))
        .map(({ name }) => `the migration ${name} is not applied`);
    } catch (error) {
      if (isDatabaseUnavailable(error)) return ['the database cannot be reached'];
      if (sqlState(error) === UNDEFINED_TABLE) return ['no migration is applied'];
      throw error;
    }
  }
}
