import { Backoff, LONGEST_TIMER_MS, type RetryOptions } from './backoff.js';
import type { Client, Session } from './client.js';
import { isTemporary } from './problem.js';

/** The service responds after so long even if the state has not changed. */
const WAIT_SECONDS = 30;
/** Before the wait, the service may read the remote service. A response that comes later than this and the wait is lost. */
const MARGIN_MS = 45_000;

export interface WaitOptions extends RetryOptions {
  /** Default: as long as the service watches the session, which may be days. */
  readonly timeoutMs?: number;
  /**
   * While somebody looks: how old the session may be, in whole seconds. Each such period is a call of the remote service. Default: the service reads the
   * session at its own intervals, from 15 seconds on.
   */
  readonly maxAgeSeconds?: number;
  /** Called with the session as it is first read, and after each change of its state. If it throws, the call ends with what it throws. */
  readonly onProgress?: (session: Session) => void;
  readonly signal?: AbortSignal;
}

/** The session is not online: its web flow is over, the time is over, or the service no longer watches the session. */
export class NotOnlineError extends Error {
  override readonly name = 'NotOnlineError';
  constructor(
    message: string,
    /** The session as it was last read; undefined if no read succeeded in the time. */
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

/** Reads a session. If it is `known`, the service responds as soon as the state is another. */
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
