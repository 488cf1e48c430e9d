import type { Database, Statement } from '../platform/database/database.js';
import { OUTCOME } from '../platform/database/connection/patience.js';

const READ_DATA: Statement = {
  name: 'events.read_data',
  text: 'SELECT data FROM domain_events WHERE position = $1',
};

/** Returns an event with its data as they are now: an erasure may have changed them since. Returns null if there is no such event any more. */
export async function withCurrentData<T extends { readonly data: unknown }>(
  database: Database,
  position: string,
  event: T,
): Promise<T | null> {
  const [current] = await database.query<Pick<T, 'data'>>(READ_DATA, [position], OUTCOME);
  return current === undefined ? null : { ...event, ...current };
}
