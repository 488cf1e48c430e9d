/**
 * What a call to the Solar Curtailment Service came to. The interface gives no error rules (section 7), so this states only what can be
 * known: whether the call may have had an effect there.
 *
 * - `done`: the response is 2xx, in the documented shape.
 * - `rejected`: the response is a 4xx that refuses the request itself; the call had no effect.
 * - `not_sent`: the call certainly had no effect: nothing was sent, or the service refused it unread (401, 403, 429).
 * - `ambiguous`: it was sent and the response was lost, or the response (5xx, 408, 3xx) does not say whether it had an effect.
 * - `unreadable`: the response is 2xx, but not in the documented shape; the call very likely had its effect.
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
      /** The field that names another object than requested. */
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

/** A response as received; `body` is the text, decoded from UTF-8, within the size limit. */
export interface RemoteAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfterMs?: number;
  readonly body: string;
  /** Why `body` is empty although the response had one: too large, or compressed although we accept no compression. */
  readonly bodyFault?: string;
}

export type NotSent = Extract<Outcome<never>, { kind: 'not_sent' }>;

/** A response of any status, or why there is none. */
export type Sent =
  | { readonly kind: 'answered'; readonly answer: RemoteAnswer }
  | Extract<Outcome<never>, { kind: 'not_sent' | 'ambiguous' }>;

/** Each class has its own breaker: a service that cannot register users may still be readable. */
export const OPERATION_CLASSES = ['token', 'register_user', 'start_session', 'read_session'] as const;
export type OperationClass = (typeof OPERATION_CLASSES)[number];

/** A caller waits for a `foreground` call, so it precedes every `background` one. */
export type Priority = 'foreground' | 'background';

export interface RemoteRequest {
  readonly operation: OperationClass;
  readonly method: 'GET' | 'POST';
  /** Relative to SCS_BASE_URL; starts with `/api/v1/ssa`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Default: `background` for `read_session`, used mostly by the poller, and `foreground` otherwise. */
  readonly priority?: Priority;
  /** Ends the call early. The outcome is `stopping` if nothing was sent yet, else `ambiguous`. */
  readonly signal?: AbortSignal;
}
