import { Backoff, LONGEST_TIMER_MS, type RetryOptions } from './backoff.js';
import type { Client, Session } from './client.js';
import { isTemporary } from './problem.js';

/** The service responds after this time even if the state has not changed. */
const WAIT_SECONDS = 30;
/**
 * How long a response may take in addition to the wait, since the service may first read the remote service. A later response counts as
 * lost.
 */
const MARGIN_MS = 45_000;

export interface WaitOptions extends RetryOptions {
  /** Default: as long as the service watches the session, which may be days. */
  readonly timeoutMs?: number;
  /**
   * The maximum age of the session data, in whole seconds, for an app whose user is looking at the session. Each period of this length
   * costs a call of the remote service. Default: the service reads the session at its own intervals, which start at 15 seconds.
   */
  readonly maxAgeSeconds?: number;
  /**
   * Receives the session after the first read, and after each change of its state. If the function throws, the call throws the same error.
   */
  readonly onProgress?: (session: Session) => void;
  readonly signal?: AbortSignal;
}

/**
 * Thrown if the session does not come online: its web flow is over, the timeout has passed, or the service no longer watches the session.
 */
export class NotOnlineError extends Error {
  override readonly name = 'NotOnlineError';
  constructor(
    message: string,
    /** The session as it was last read; undefined if no read succeeded before the timeout. */
    readonly session: Session | undefined,
  ) {
    super(message);
  }

  /** The state of the session, such as `expired`. */
  get state(): Session['state'] | undefined {
    return this.session?.state;
  }
}

/** No owner can complete the web flow of a session in these states. It may still come online late: `pv.session.online.v1` announces it. */
const OVER: readonly Session['state'][] = ['expired', 'lost'];

/** Returns the session as soon as it is online. Throws a NotOnlineError, a ProblemError that a retry cannot cure, or the signal's reason. */
export async function waitForOnline(
  client: Client,
  sessionId: string,
  { timeoutMs, maxAgeSeconds, signal, onProgress, onRetry }: WaitOptions = {},
): Promise<Session> {
  const timeout =
    timeoutMs === undefined ? undefined : AbortSignal.timeout(Math.min(timeoutMs, LONGEST_TIMER_MS));
  const ended = AbortSignal.any([signal, timeout].filter((each) => each !== undefined));
  const backoff = new Backoff(onRetry);
  let session: Session | undefined;
  for (;;) {
    const before: Session['state'] | undefined = session?.state;
    try {
      session = await readSession(client, sessionId, { known: session, maxAgeSeconds, signal: ended });
      backoff.succeeded();
    } catch (error) {
      if (!ended.aborted && !isTemporary(error)) throw error;
      await backoff.pause(error, ended);
    }
    if (session !== undefined && session.state !== before) onProgress?.(session);
    if (session?.state === 'online') return session;
    if (session !== undefined && OVER.includes(session.state))
      throw new NotOnlineError(`Session ${sessionId} is ${session.state}`, session);
    signal?.throwIfAborted();
    const state = session?.state ?? 'not readable';
    if (timeout?.aborted)
      throw new NotOnlineError(`Session ${sessionId} is ${state} after ${timeoutMs} ms`, session);
    if (typeof session?.closedAt === 'string')
      throw new NotOnlineError(`Session ${sessionId} is ${state} and no longer watched`, session);
  }
}

interface Read {
  readonly known: Session | undefined;
  readonly maxAgeSeconds: number | undefined;
  readonly signal: AbortSignal;
}

/** Reads a session. If `known` is given, waits for the response until the state differs from the known one, or the wait is over. */
async function readSession(
  client: Client,
  id: string,
  { known, maxAgeSeconds: maxAge, signal }: Read,
): Promise<Session> {
  const fresh = maxAge !== undefined && { maxAge, stale: 'allow' as const };
  const query = known && {
    wait: Math.max(1, Math.min(WAIT_SECONDS, maxAge ?? WAIT_SECONDS)),
    from: known.state,
    ...fresh,
  };
  const params = { path: { id }, ...(query && { query }) };
  const limitMs = (query?.wait ?? 0) * 1_000 + MARGIN_MS;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error(`no response within ${limitMs} ms`)), limitMs);
  const either = AbortSignal.any([signal, limit.signal]);
  try {
    return (await client.GET('/api/v1/onboarding/pv/{id}', { params, signal: either })).data;
  } finally {
    clearTimeout(timer);
  }
}
