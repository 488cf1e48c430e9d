/** What a heartbeat found: how many replicas live, this one among them, and whether every other one has counted as many. */
export interface Beat {
  readonly replicas: number;
  readonly settled: boolean;
}

/**
 * The requests per second that this replica may send, of a ceiling for the whole deployment. Whoever counts more replicas than
 * before takes less at once; taking more waits until all others have counted everybody, for until then one of them may still
 * send what this replica is about to. So the shares never add up to more than the ceiling, but for the moment between an answer
 * of the database and its use. A replica that joins begins with 0.
 */
export function planShare(ceiling: number, current: number, { replicas, settled }: Beat): number {
  const fair = ceiling / replicas;
  return settled ? fair : Math.min(fair, current);
}
