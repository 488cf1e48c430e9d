/**
 * How long a worker must have seen a lease before it may end the lease. While the database cannot be written, a process whose call was not
 * sent cannot return its lease. Once the database is back, the process returns it within this time.
 */
const SEEN_MS = 4_000;

/** Locks the rows of a query for leases, so that it fails or waits while the database cannot be written. */
export const FOR_SEEN_LEASES = 'FOR KEY SHARE SKIP LOCKED';

export class SeenLeases {
  private seenAt = new Map<string, number>();

  constructor(private readonly find: () => Promise<string[]>) {}

  /** Returns the leases that `find` has been returning for SEEN_MS. If `find` fails, forgets the leases. */
  async findSeen(): Promise<string[]> {
    const beganAt = performance.now();
    const { seenAt } = this;
    this.seenAt = new Map();
    const leases = await this.find();
    // The query may have waited for the database, and this wait must not count. So a lease counts as seen from the end of the first query
    // that found it until the beginning of this query.
    const now = performance.now();
    this.seenAt = new Map(leases.map((lease) => [lease, seenAt.get(lease) ?? now]));
    return leases.filter((lease) => beganAt - this.seenAt.get(lease)! >= SEEN_MS);
  }
}
