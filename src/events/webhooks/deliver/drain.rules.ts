export interface DrainView {
  /** The endpoint is disabled or deleted. */
  readonly isClosed: boolean;
  /** The most requests that may be in flight; 0 during the quiet period after failures. */
  readonly places: number;
  /** Requests in flight, and attempts that are not recorded yet. */
  readonly unsettled: number;
  /** Claimed deliveries that are not sent yet. */
  readonly ready: number;
  /** Whether a claim may find a due subject. */
  readonly isThereMore: boolean;
}

// `sending`: claims due subjects and sends. Entered at the start, on `wake`, or after a wait. Left if nothing is due, or if the endpoint is
// closed or quiet.
// `settling`: sends nothing, and records the requests in flight as they end. Entered if the endpoint is closed or quiet. Left when all
// attempts are recorded, or when the quiet period ends.
// `idle`: has nothing to send or record. Entered when all attempts are recorded. Left for `sending` when a delivery is due, or by the end
// of the job.
export function stateOf({ isClosed, places, unsettled, ready, isThereMore }: DrainView) {
  const maySend = !isClosed && places > 0;
  if (maySend && (unsettled > 0 || ready > 0 || isThereMore)) return 'sending';
  return unsettled > 0 ? 'settling' : 'idle';
}
