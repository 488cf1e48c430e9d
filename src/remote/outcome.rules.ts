/**
 * What became of a call to the Solar Curtailment Service. The interface gives no error rules (section 7), so this says only what
 * can be known: whether the call may have had an effect there.
 *
 * - `done`: answered 2xx, in the documented shape.
 * - `rejected`: answered 4xx in a way that refuses the request itself; it had no effect.
 * - `not_sent`: it certainly had no effect: nothing was sent, or the service turned it away unread (401, 403, 429).
 * - `ambiguous`: it was sent and its answer was lost, or the answer (5xx, 408, 3xx) does not say whether it had an effect.
 * - `unreadable`: answered 2xx, but not in the documented shape; it very likely had its effect.
 */
export type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'rejected'; readonly status: number; readonly detail: string }
  | { readonly kind: 'not_sent'; readonly reason: NotSentReason; readonly retryAfterMs?: number }
  | { readonly kind: 'ambiguous'; readonly reason: string; readonly retryAfterMs?: number }
  | {
      readonly kind: 'unreadable';
      readonly status: number;
      readonly reason: string;
      /** The field that names something else than what was asked for. */
      readonly foreignField?: string;
    };

export type NotSentReason =
  | 'unreachable'
  | 'breaker_open'
  | 'rate_limited'
  | 'limiter_timeout'
  | 'credentials_rejected'
  | 'token_unavailable'
  | 'stopping';

/** An answer as it came; `body` is the text, decoded from UTF-8, within the size limit. */
export interface RemoteAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfterMs?: number;
  readonly body: string;
  /** Why `body` is empty although there was one: too large, or compressed although we accept no compression. */
  readonly bodyFault?: string;
}

export type NotSent = Extract<Outcome<never>, { kind: 'not_sent' }>;

/** Either an answer of any status, or the knowledge that there is none. */
export type Sent =
  | { readonly kind: 'answered'; readonly answer: RemoteAnswer }
  | Extract<Outcome<never>, { kind: 'not_sent' | 'ambiguous' }>;

/** Each class has its own breaker: a service that cannot register users may still be readable. */
export const OPERATION_CLASSES = ['token', 'register_user', 'start_session', 'read_session'] as const;
export type OperationClass = (typeof OPERATION_CLASSES)[number];

/** A `foreground` call has someone waiting for it and goes before every `background` one. */
export type Priority = 'foreground' | 'background';

export interface RemoteRequest {
  readonly operation: OperationClass;
  readonly method: 'GET' | 'POST';
  /** Below SCS_BASE_URL, beginning with `/api/v1/ssa`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** By default `background` for `read_session`, which is mostly the poller, and `foreground` for all else. */
  readonly priority?: Priority;
  /** Ends the call early: `stopping` when nothing was sent yet, else `ambiguous`. */
  readonly signal?: AbortSignal;
}
