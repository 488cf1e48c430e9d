/** What a client may take of us before it has shown a key: time, memory, connections. */
export interface HttpLimits {
  /** From the first byte of a request, or from connecting, to the end of its headers. */
  readonly headersMs: number;
  /** To the end of its body. */
  readonly requestMs: number;
  /** How often connections are held against the two; they may be exceeded by as much. */
  readonly checkMs: number;
  /** A connection on which nothing moves in either direction. */
  readonly idleMs: number;
  readonly headerBytes: number;
  readonly bodyBytes: number;
  readonly connections: number;
  /** Connections on which further requests wait for the response to an earlier one; what is beyond is closed. */
  readonly pipeliningConnections: number;
  /** What is read and dropped of a body whose request was answered before it had arrived. */
  readonly discardedBytes: number;
}

export const HTTP_LIMITS: HttpLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 1_000,
  // Twice the longest `?wait=`, during which nothing moves. It also ends a client that does not read its answer.
  idleMs: 120_000,
  headerBytes: 16 * 1024,
  // A registration with 1,000 grid locations has 30 kB.
  bodyBytes: 256 * 1024,
  // A connection that waits costs some 20 kB; what is beyond is closed at once, which is better than running out of memory.
  connections: 10_000,
  // Each holds one chunk that was read and not parsed, and another that was read before the socket paused: 64 kB each.
  pipeliningConnections: 256,
  // A client that sends more without looking at the response is cut off. An upload by mistake is mostly smaller.
  discardedBytes: 8 * 1024 * 1024,
};
