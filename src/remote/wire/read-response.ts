import { redact } from '../../observability/redaction/redaction.js';
import type { Outcome, RemoteResponse, Sent } from '../outcome.rules.js';

/** Thrown for a 2xx whose body is not in the documented shape. The message names the field and the expectation, never the value. */
export class UnreadableResponse extends Error {
  constructor(
    message: string,
    readonly foreignField?: string,
  ) {
    super(message);
  }
}

/**
 * Returns the outcome of a call. `read` interprets the body of a 2xx, or throws UnreadableResponse if its shape is wrong. The interface
 * documents no error statuses (section 7), so a 4xx other than 408 counts as a call without effect. All other statuses are `ambiguous`.
 */
export function outcomeOf<T>(sent: Sent, read: (response: RemoteResponse) => T): Outcome<T> {
  if (sent.kind !== 'response') return sent;
  const { response } = sent;
  const { status, bodyFault, retryAfterMs } = response;
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status >= 200 && status < 300) {
    if (bodyFault !== undefined) return { kind: 'unreadable', status, reason: bodyFault };
    try {
      return { kind: 'done', value: read(response) };
    } catch (error) {
      if (!(error instanceof UnreadableResponse)) throw error;
      const { message, foreignField } = error;
      return { kind: 'unreadable', status, reason: redact(message), ...(foreignField && { foreignField }) };
    }
  }
  if (status === 429) return { kind: 'not_sent', reason: 'rate_limited', ...wait };
  // 408: the service gave up waiting for the whole request, but may have acted on the part that it had received.
  if (status >= 400 && status < 500 && status !== 408) {
    const detail = bodyFault ?? (redact(response.body) || 'the service gave no explanation');
    return { kind: 'rejected', status, detail };
  }
  return { kind: 'ambiguous', reason: `responded with status ${status}`, status, ...wait };
}
