/** How much time, memory and connections a client may use before it has presented a key. */
export interface HttpLimits {
  /** From connecting, or from the first byte of a request, to the end of its headers. */
  readonly headersMs: number;
  /** To the end of its body. */
  readonly requestMs: number;
  /** How often connections are checked against headersMs and requestMs, which may be exceeded by as much. */
  readonly checkMs: number;
  /** After this long without traffic in either direction, a connection is closed. */
  readonly idleMs: number;
  readonly headerBytes: number;
  readonly bodyBytes: number;
  readonly connections: number;
  /** Connections on which further requests wait for the response to an earlier one; connections beyond this are closed. */
  readonly pipeliningConnections: number;
  /** Bytes of a body to read and discard if the response was sent before the body arrived. */
  readonly discardedBytes: number;
}

export const HTTP_LIMITS: HttpLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 1_000,
  // Twice the longest `?wait=`, during which there is no traffic. It also disconnects a client that does not read its response.
  idleMs: 120_000,
  headerBytes: 16 * 1024,
  // A registration with 1,000 grid locations has 30 kB.
  bodyBytes: 256 * 1024,
  // An idle connection costs some 20 kB. Connections beyond this are closed at once, rather than running out of memory.
  connections: 10_000,
  // Each holds one chunk that was read but not parsed, and another that was read before the socket paused: 64 kB each.
  pipeliningConnections: 256,
  // A client that sends more without reading the response is disconnected. Most uploads by mistake are smaller.
  discardedBytes: 8 * 1024 * 1024,
};
