import { redact } from '../../platform/redaction/redaction.js';
import type { Outcome, RemoteAnswer, Sent } from '../outcome.rules.js';

/** A 2xx whose body differs from the documented shape. The message names the field and the expectation, never the value. */
export class UnreadableAnswer extends Error {
  /** `foreignField`: where the response names another object than requested, such as another session or reference. */
  constructor(
    message: string,
    readonly foreignField?: string,
  ) {
    super(message);
  }
}

const NO_EXPLANATION = 'the service gave no explanation';

/**
 * Turns statuses into outcomes; the only place that does. `read` interprets the body of a 2xx (see read-field.ts) and throws
 * UnreadableAnswer if it does not have the documented shape. Any other error in it is a bug of ours and passes through.
 *
 * The interface documents no error statuses (section 7). Each means what HTTP itself says about an effect, and `ambiguous` if HTTP says
 * nothing. 404 and 410 are `rejected` with that status.
 */
export function outcomeOf<T>(sent: Sent, read: (answer: RemoteAnswer) => T): Outcome<T> {
  if (sent.kind !== 'answered') return sent;
  const { answer } = sent;
  const { status, retryAfterMs } = answer;
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status >= 200 && status < 300) return readBody(answer, read);
  if (status === 401 || status === 403) return { kind: 'not_sent', reason: 'credentials_rejected', ...wait };
  if (status === 429) return { kind: 'not_sent', reason: 'rate_limited', ...wait };
  // 408: the service gave up waiting for the request, which does not say what it did with the part it had.
  if (status >= 400 && status < 500 && status !== 408) {
    return { kind: 'rejected', status, detail: answer.bodyFault ?? (redact(answer.body) || NO_EXPLANATION) };
  }
  return { kind: 'ambiguous', reason: `answered with status ${status}`, ...wait };
}

function readBody<T>(answer: RemoteAnswer, read: (answer: RemoteAnswer) => T): Outcome<T> {
  const { status, bodyFault } = answer;
  if (bodyFault !== undefined) return { kind: 'unreadable', status, reason: bodyFault };
  try {
    return { kind: 'done', value: read(answer) };
  } catch (error) {
    if (!(error instanceof UnreadableAnswer)) throw error;
    const { foreignField } = error;
    return {
      kind: 'unreadable',
      status,
      reason: redact(error.message),
      ...(foreignField && { foreignField }),
    };
  }
}
