import { readRetryAfter } from '../../platform/http-client/retry-after.rules.js';
import type { SendOutcome } from '../../delivery/delivery-plan.rules.js';

/** The statuses with which Retry-After is obeyed (RFC 9110, RFC 6585). */
const MAY_REQUEST_WAIT: readonly number[] = [429, 503];

/** Returns the outcome of a response by its status. A redirect is a failure, so that the endpoint's owner corrects the URL. */
export function sendOutcomeOf(
  status: number,
  answer: string | undefined,
  retryAfter: string | undefined,
  respondedAt: Date,
): SendOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status, answer };
  const hint = status >= 300 && status < 400 ? ': redirects are not followed' : '';
  return {
    kind: status === 410 ? 'gone' : 'failed',
    status,
    answer,
    error: `responded with ${status}${hint}`,
    retryAfterMs: MAY_REQUEST_WAIT.includes(status) ? readRetryAfter(retryAfter, respondedAt) : undefined,
  };
}
