/** The largest body, in either direction, of a call that is passed on to the remote service. */
export const MAX_PASSED_BYTES = 10 * 1024 * 1024;

/** Limits of time, memory and connections, which apply even before a client has presented a key. */
export const HTTP_LIMITS = {
  /** The time from the first byte of a request to the end of its headers. Also the time from connecting to the first byte. */
  headersMs: 10_000,
  /** The time from the first byte of a request to the end of its body. */
  requestMs: 30_000,
  /** How often headersMs and requestMs are checked. A request may exceed them by checkMs. */
  checkMs: 1_000,
  /** A connection is closed if no byte was sent or received for idleMs: twice the longest time for which `?wait=` holds a request open. */
  idleMs: 120_000,
  headerBytes: 16 * 1024,
  /** The largest body of a request. A registration with 1,000 grid locations has 30 kB. */
  bodyBytes: 256 * 1024,
  /** The most connections. Further ones are closed at once, to save memory: an idle connection uses about 20 kB. */
  connections: 10_000,
  /** The most connections whose pipelined requests wait for an earlier response. Each buffers up to 128 kB. Further ones are closed. */
  pipeliningConnections: 256,
  /** After an early response, discards this many bytes of the body, so that the client reads the response; then closes the connection. */
  discardedBytes: 8 * 1024 * 1024,
};

export type HttpLimits = Readonly<typeof HTTP_LIMITS>;
