import { readRetryAfter } from '../../../platform/http-client/retry-after.rules.js';

/** What became of one attempt. Texts are redacted. */
export type SendOutcome =
  | { readonly kind: 'delivered'; readonly status: number; readonly answer: string | null }
  /** The receiver says that there is nothing here any more, and will not be (Standard Webhooks). */
  | { readonly kind: 'gone'; readonly status: 410; readonly error: string; readonly answer: string | null }
  | {
      readonly kind: 'failed';
      /** Null when there was no answer. */
      readonly status: number | null;
      readonly error: string;
      readonly answer: string | null;
      /** How long the receiver asks to be left alone; null when it does not. */
      readonly retryAfterMs: number | null;
    };

export interface Answer {
  readonly status: number;
  /** The beginning of its body; null when it has none that can be read. */
  readonly text: string | null;
  readonly retryAfter: string | undefined;
}

/** With these, Retry-After says when to come back; with others it has no meaning (RFC 9110, RFC 6585). */
const MAY_ASK_TO_WAIT: readonly number[] = [429, 503];

/** The status alone decides. A redirect is a failure like any other: whoever moves has to change the address of the endpoint. */
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
