/**
 * How long a worker must have seen a lease before it may end the lease. If the commit of a lease waits for a standby, the lease is invisible
 * until the commit ends, and may have expired by then. Its process has sent nothing, and returns the lease within this time.
 */
const SEEN_MS = 4_000;

/** Remembers when this process first saw each lease that `find` returns. */
export class SeenLeases {
  private seenAt = new Map<string, number>();

  constructor(private readonly find: () => Promise<string[]>) {}

  /** Returns the leases that `find` has been returning for SEEN_MS. */
  async findSeen(): Promise<string[]> {
    const askedAt = performance.now();
    const leases = await this.find();
    // The query may have waited for the database, and this wait must not count. So a lease counts as seen from the end of the first query
    // that found it until the beginning of this query.
    const now = performance.now();
    this.seenAt = new Map(leases.map((lease) => [lease, this.seenAt.get(lease) ?? now]));
    return leases.filter((lease) => askedAt - this.seenAt.get(lease)! >= SEEN_MS);
  }
}
