/**
 * How long a worker must have seen a lease before it may end the lease. During an outage of the database, a live owner can neither store
 * its outcome nor release its lease. The owner does both within SEEN_MS after the outage.
 */
const SEEN_MS = 4_000;

/** Makes a query for leases lock their rows, so that it fails or waits while the database does not accept writes. */
export const FOR_ABANDONED_LEASES = 'FOR KEY SHARE SKIP LOCKED';

/**
 * Finds the leases whose owner was killed before it released them. Only rows that no other process may claim need this, such as a
 * registration that may have been sent. Any other expired lease ends with the next claim of its row (lease.sql.ts).
 */
export class AbandonedLeases {
  private seenAt = new Map<string, number>();

  constructor(private readonly find: () => Promise<string[]>) {}

  /** Returns the leases that `find` has been returning for SEEN_MS; those that have expired are abandoned. If `find` fails, forgets all. */
  async findSeen(): Promise<string[]> {
    const beganAt = performance.now();
    const { seenAt } = this;
    this.seenAt = new Map();
    const leases = await this.find();
    // The query may have waited for the database, and this wait must not count. So a lease counts as seen from the end of the first query
    // that found it until the beginning of the current query.
    const now = performance.now();
    this.seenAt = new Map(leases.map((lease) => [lease, seenAt.get(lease) ?? now]));
    return leases.filter((lease) => beganAt - this.seenAt.get(lease)! >= SEEN_MS);
  }
}
