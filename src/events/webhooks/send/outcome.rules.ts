import { readRetryAfter } from '../../../platform/http-client/retry-after.rules.js';
import type { SendOutcome } from '../../deliver/send-outcome.js';

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
