import type { Dispatcher } from 'undici';
import { OPERATION_CLASSES } from '../events/event-schemas.rules.js';
import type { PassedMethod } from '../platform/env/pass-through.rules.js';

/**
 * The result of a call to the Solar Curtailment Service. The interface defines no errors (section 7), so the kinds say only whether the
 * call may have had an effect.
 * - `done`: the response is 2xx, in the documented shape.
 * - `rejected`: the response is a 4xx that refuses the request itself. The call had no effect. See refusals.ts for 401 and 403.
 * - `not_sent`: the call had no effect. Either we sent nothing, or the request was refused unread: the service limits requests (429) or
 *   rejects the credentials, or a gateway in front of it responded instead. The caller may send the same request later.
 * - `ambiguous`: the response was lost, or its status (5xx, 408, 499, 3xx) does not say whether the call had an effect.
 * - `unreadable`: the response is 2xx, but not in the documented shape. The call very likely had its effect.
 */
export type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'rejected'; readonly status: number; readonly detail: string }
  | {
      readonly kind: 'not_sent';
      readonly reason: NotSentReason;
      readonly retryAfterMs?: number;
      /** Who refused the request, and how, without secrets. Only for `foreign_response` and `proxy_fails`. */
      readonly detail?: string;
    }
  /** `status` is absent if the response was lost. */
  | {
      readonly kind: 'ambiguous';
      readonly reason: string;
      readonly status?: number;
      readonly retryAfterMs?: number;
    }
  | {
      readonly kind: 'unreadable';
      readonly status: number;
      readonly reason: string;
      /** The response field that identifies an object other than the requested one. */
      readonly foreignField?: string;
    };

export type NotSentReason =
  | 'unreachable'
  /** The outbound proxy cannot be reached, or opens no tunnel. It says nothing about the service. */
  | 'proxy_fails'
  | 'breaker_open'
  | 'rate_limited'
  | 'wait_requested'
  | 'limiter_timeout'
  | 'credentials_rejected'
  | 'foreign_response'
  | 'token_unavailable'
  | 'stopping';

export const NOT_SENT_TEXT: Readonly<Record<NotSentReason, string>> = {
  unreachable: 'the Solar Curtailment Service cannot be reached',
  proxy_fails: 'the outbound proxy opens no connection to the Solar Curtailment Service',
  breaker_open: 'the Solar Curtailment Service has been failing, so no calls are sent',
  rate_limited: 'the Solar Curtailment Service accepts no more requests now',
  wait_requested: 'the Solar Curtailment Service asked to wait',
  limiter_timeout: 'too many calls to the Solar Curtailment Service are waiting',
  credentials_rejected: 'the Solar Curtailment Service does not accept our credentials',
  foreign_response: 'something in front of the Solar Curtailment Service may have responded instead of it',
  token_unavailable: 'the Solar Curtailment Service gave no access token',
  stopping: 'this process was stopping',
};

/** Describes why a call was not sent, with the response that refused it, if there is one. */
export const describeNotSent = ({ reason, detail }: Pick<NotSent, 'reason' | 'detail'>): string =>
  detail === undefined ? NOT_SENT_TEXT[reason] : `${NOT_SENT_TEXT[reason]}: ${detail}`;

/** A response as received. `body` is decoded from UTF-8. */
export interface RemoteResponse {
  readonly status: number;
  readonly contentType?: string;
  /** Whether the service is known to respond like this: it served other calls after it had sent an equal response. */
  readonly isFamiliar?: boolean;
  /** Whether the body was passed on to the caller, so that it is not known here. */
  readonly isPassed?: boolean;
  readonly retryAfterMs?: number;
  readonly body: string;
  /** Why `body` was not read: too large, or compressed although we accept no compression. */
  readonly bodyFault?: string;
}

/** Returns whether a body may be a JSON object, as all documented responses are. Cheap, since every response is examined. */
export const isObjectLike = (body: string): boolean => /^\ufeff?\s*\{/.test(body);

const GIVEN_UP: readonly number[] = [408, 499];

/** Returns whether the service stopped waiting for the request (408) or cancelled it (499), after it may have acted on it. */
export const isGivenUp = (status: number): boolean => GIVEN_UP.includes(status);

/** The statuses that are read whatever their body: 401 renews the token, the others are outcomes of their own. */
const READ_BY_STATUS: readonly number[] = [401, 429, ...GIVEN_UP];

/**
 * Returns whether a response refuses a call with a body that the service does not send, as far as we know. It shows nothing about the
 * call: a gateway in front of the service may have responded, for example while it has no route to the service.
 */
export const isForeignRefusal = ({ status, body, isFamiliar, isPassed }: RemoteResponse): boolean =>
  status >= 400 &&
  status < 500 &&
  !READ_BY_STATUS.includes(status) &&
  isFamiliar !== true &&
  isPassed !== true &&
  !isObjectLike(body);

export type NotSent = Extract<Outcome<never>, { kind: 'not_sent' }>;

/** A response of any status, or the outcome of a call without a response. */
export type Sent =
  | { readonly kind: 'response'; readonly response: RemoteResponse }
  | Extract<Outcome<never>, { kind: 'not_sent' | 'ambiguous' }>;

/** Each class has its own breaker: a service that cannot register users may still serve reads. */
export { OPERATION_CLASSES };
export type OperationClass = (typeof OPERATION_CLASSES)[number];

/** An operation class, or the base probe of interface section 4.5, which changes nothing. */
export type SentOperation = OperationClass | 'probe';

/** Callers wait for `foreground` calls, so these take precedence over `background` calls. */
export type Priority = 'foreground' | 'background';

/** The queue in which a call waits. Registrations and starts (`change`) take precedence over reads of the same priority. */
export type CallClass = `${Priority} ${'change' | 'read'}`;

/**
 * The result of a call for the breaker and the call queue. `limited` is a 429, `unavailable` a 503, `foreign` a 4xx of something in front
 * of the service. `unknown`: we cancelled the call or did not send it, so its result says nothing about the service.
 */
export type CallResult =
  'succeeded' | 'failed' | 'timed_out' | 'unavailable' | 'limited' | 'foreign' | 'unknown';

/** The result of one exchange: `sent` for the caller, `result` for the breaker and the call queue. */
export interface Exchanged {
  readonly sent: Sent;
  readonly result: CallResult;
  readonly fault?: string;
  readonly quietMs?: number;
}

/** A call of a caller, whose bodies are passed on as they are. */
export interface PassedCall {
  /** Undefined if the request has no body. */
  readonly body?: { readonly bytes: Buffer | AsyncIterable<Buffer> };
  /** Returns what receives the response, and calls `settle` once it has ended or failed. */
  open(limits: PassedLimits): Dispatcher.DispatchHandler;
}

export interface PassedLimits extends Pick<RemoteRequest, 'signal'> {
  readonly timeoutMs: number;
  readonly settle: (exchanged: Exchanged) => void;
  /** Returns the connection to its pool. */
  readonly release: (reusable: boolean) => void;
}

export interface RemoteRequest {
  readonly operation: OperationClass;
  readonly method: PassedMethod;
  /** Relative to SCS_BASE_URL; starts with `/api/v1/ssa`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Returns why a 2xx does not tell the outcome, so that the call has failed. For POSTs: a further one would be as unknown. */
  readonly faultOf?: (response: RemoteResponse) => string | undefined;
  /** Default: `background` for `read_session`, else `foreground`. */
  readonly priority?: Priority;
  /** Sent at most once more, after a 401. */
  readonly passed?: PassedCall;
  /** Cancels the call. The outcome is `not_sent` (`stopping`) if nothing was sent yet, else `ambiguous`. */
  readonly signal?: AbortSignal;
}
