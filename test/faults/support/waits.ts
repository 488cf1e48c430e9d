import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import { waitFor } from '../../setup/wait-for.js';

/** Waits until the sandbox holds `count` responses because of one fault. */
export const waitUntilHeld = (control: SandboxControl, count: number, faultId?: number): Promise<boolean> =>
  waitFor(`${count} responses are held`, async () =>
    (await control.faults()).some(
      ({ id, holding }) => (faultId === undefined || id === faultId) && holding >= count,
    ),
  );

interface Queryable {
  query(text: string): Promise<readonly unknown[] | { readonly rows: readonly unknown[] }>;
}

/** Waits until `count` statements in the database of `client` wait for a lock. */
export const waitForLockWaits = (client: Queryable, count = 1): Promise<boolean> =>
  waitFor(`${count} statements wait for a lock`, async () => {
    const found = await client.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return ('rows' in found ? found.rows : found).length >= count;
  });
