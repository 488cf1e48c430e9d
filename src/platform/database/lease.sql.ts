import type { Statement } from './database.js';
import { msFromNow } from './timestamps.js';

/** The statements of the leases on the rows of one table. $1 is the row's key and $2 the token of the lease. */
export type LeaseStatements = ReturnType<typeof leasesOn>;

interface LeasedTable {
  readonly table: string;
  /** The column of the primary key. */
  readonly key: string;
  /** The condition under which a row without a lease is due. Default: its `due_at` has passed. */
  readonly isDue?: string;
  /** What a claim and a release also set. */
  readonly onClaim?: string;
  readonly onRelease?: string;
}

/**
 * Returns the statements for a table with the columns `lease_token`, `lease_until` and `due_at`. While a row is leased, its `due_at` is
 * infinite; setting it to an earlier time makes the row due at the end of the lease.
 */
// The statements check the token alone: an expired lease stays ours until another process claims the row, which replaces the token.
export function leasesOn({ table, key, isDue = 'due_at <= clock_timestamp()', ...also }: LeasedTable) {
  const isClaimable = `CASE WHEN lease_until IS NULL THEN ${isDue} ELSE lease_until < clock_timestamp() END`;
  const statement = (name: string, set: string, where: string, alsoSet?: string): Statement => ({
    name: `${table}.${name}`,
    text: `UPDATE ${table} SET ${[set, ...(alsoSet === undefined ? [] : [alsoSet])].join(', ')} WHERE ${key} = $1 AND ${where} RETURNING ${key}`,
  });
  const until = `lease_until = ${msFromNow('$3')}`;
  return {
    /** The condition under which a row may be claimed: it is due, or the lease of a lost process has expired. */
    isClaimable,
    /** Claims the row for $3 ms. Returns a row if the claim succeeded. */
    claim: statement(
      'claim_lease',
      `lease_token = $2, ${until}, due_at = 'infinity'`,
      isClaimable,
      also.onClaim,
    ),
    /** Renews the lease for $3 ms from now. Returns no row if the lease is no longer ours. */
    renew: statement('renew_lease', until, 'lease_token = $2'),
    /** Ends the lease. The row is due again in $3 ms, or earlier if its due_at was set meanwhile. */
    release: statement(
      'release_lease',
      `lease_token = NULL, lease_until = NULL, due_at = least(due_at, ${msFromNow('$3')})`,
      'lease_token = $2',
      also.onRelease,
    ),
  };
}
