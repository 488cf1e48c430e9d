/** The result of a heartbeat: the number of live replicas, including this one, and whether every other one has counted as many. */
export interface Beat {
  readonly replicas: number;
  readonly settled: boolean;
}

/**
 * Returns the requests per second that this replica may send, of a ceiling for the whole deployment. A replica that counts more replicas
 * than before lowers its share at once. It raises its share only after all others have counted every replica, since until then one of them
 * may still send what this replica is about to. So the shares never add up to more than the ceiling, except between a response of the
 * database and its use. A replica that joins starts with 0.
 */
export function planShare(ceiling: number, current: number, { replicas, settled }: Beat): number {
  const fair = ceiling / replicas;
  return settled ? fair : Math.min(fair, current);
}
