import { readRetryAfter } from '../../../platform/http-client/retry-after.rules.js';

/** The outcome of one attempt. Texts are redacted. */
export type SendOutcome =
  | { readonly kind: 'delivered'; readonly status: number; readonly answer: string | null }
  | {
      /** `gone`: the receiver is permanently gone (Standard Webhooks). */
      readonly kind: 'gone' | 'failed';
      /** Null if there was no response. */
      readonly status: number | null;
      readonly error: string;
      readonly answer: string | null;
      /** The wait that the receiver requests, in milliseconds; null if it requests none. */
      readonly retryAfterMs: number | null;
    };

/** The statuses with which Retry-After is obeyed (RFC 9110, RFC 6585). */
const MAY_REQUEST_WAIT: readonly number[] = [429, 503];

/** Returns the outcome of a response, by its status. A redirect is a failure: the endpoint's owner must change the URL. */
export function sendOutcomeOf(
  status: number,
  text: string | null,
  retryAfter: string | undefined,
  now: Date,
): SendOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status, answer: text };
  const mayRequestWait = MAY_REQUEST_WAIT.includes(status);
  const retryAfterMs = (mayRequestWait ? readRetryAfter(retryAfter, now) : undefined) ?? null;
  const hint = status >= 300 && status < 400 ? ': redirects are not followed' : '';
  const kind = status === 410 ? 'gone' : 'failed';
  return { kind, status, error: `responded with ${status}${hint}`, answer: text, retryAfterMs };
}
