import type { INestApplicationContext } from '@nestjs/common';
import { withSettings } from '../../../src/platform/database/connection/settings.js';
import { Database } from '../../../src/platform/database/database.js';

const LONG_MS = 60_000;

/** Lets the statements of an application wait for locks, connections and responses as long as a busy machine needs. */
export function waitPatiently(app: INestApplicationContext): void {
  const database = app.get(Database);
  database.outcomeResponseWithinMs = LONG_MS;
  const limits = { ...withSettings({}), query_timeout: 0, connectionTimeoutMillis: LONG_MS };
  Object.assign(database.pool.options, limits);
}
