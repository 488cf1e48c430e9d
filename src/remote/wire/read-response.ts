import { redact } from '../../platform/redaction/redaction.js';
import { isForeignRefusal, isGivenUp } from '../outcome.rules.js';
import type { Outcome, RemoteResponse, Sent } from '../outcome.rules.js';

const SHOWN_LENGTH = 200;
const SHOWN_TYPE_LENGTH = 60;
/** Matches fields of a user (interface section 2.3). A body with such a field is a user in another form, or quotes our request. */
const PERSONAL = /tenantReference|firstName|lastName/i;

/** Describes a response that probably does not come from the service: its status, content type and first characters, without secrets. */
// Omits personal data too, because an erasure does not reach the status and the events about the remote service.
export function describeResponse({ status, contentType, body, bodyFault }: RemoteResponse): string {
  const shown = PERSONAL.test(body)
    ? 'a body with personal data'
    : (bodyFault ?? (redact(body, SHOWN_LENGTH) || 'an empty body'));
  return `status ${status}, ${redact(contentType ?? '', SHOWN_TYPE_LENGTH) || 'no content type'}: ${shown}`;
}

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
 * documents no error statuses (section 7), so a 4xx other than 408 and 499 counts as a call without effect. All other statuses are `ambiguous`.
 * A 4xx that may come from something in front of the service is `not_sent`, since it says nothing about the request.
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
  if (isForeignRefusal(response))
    return { kind: 'not_sent', reason: 'foreign_response', detail: describeResponse(response), ...wait };
  if (status >= 400 && status < 500 && !isGivenUp(status)) {
    const detail = bodyFault ?? (redact(response.body) || 'the service gave no explanation');
    return { kind: 'rejected', status, detail };
  }
  return { kind: 'ambiguous', reason: `responded with status ${status}`, status, ...wait };
}
