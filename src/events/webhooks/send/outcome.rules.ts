import { readRetryAfter } from '../../../platform/http-client/retry-after.rules.js';

/** The outcome of one attempt. Texts are redacted. */
export type SendOutcome =
  | { readonly kind: 'delivered'; readonly status: number; readonly answer: string | null }
  /** The receiver is permanently gone (Standard Webhooks). */
  | { readonly kind: 'gone'; readonly status: 410; readonly error: string; readonly answer: string | null }
  | {
      readonly kind: 'failed';
      /** Null if there was no response. */
      readonly status: number | null;
      readonly error: string;
      readonly answer: string | null;
      /** How long the receiver asks us to wait, in milliseconds; null if it does not. */
      readonly retryAfterMs: number | null;
    };

export interface Answer {
  readonly status: number;
  /** The beginning of the body; null if there is no readable body. */
  readonly text: string | null;
  readonly retryAfter: string | undefined;
}

/** Retry-After has a meaning only with these statuses (RFC 9110, RFC 6585). */
const MAY_ASK_TO_WAIT: readonly number[] = [429, 503];

/** Returns the outcome by status alone. A redirect is a failure: the owner of the endpoint must change its URL. */
export function outcomeOf({ status, text, retryAfter }: Answer, now: Date): SendOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status, answer: text };
  if (status === 410) return { kind: 'gone', status, error: 'answered with 410', answer: text };
  const asksToWait = MAY_ASK_TO_WAIT.includes(status);
  const retryAfterMs = (asksToWait ? readRetryAfter(retryAfter, now) : undefined) ?? null;
  const isRedirect = status >= 300 && status < 400;
  const error = isRedirect
    ? `answered with ${status}: redirects are not followed`
    : `answered with ${status}`;
  return { kind: 'failed', status, error, answer: text, retryAfterMs };
}
