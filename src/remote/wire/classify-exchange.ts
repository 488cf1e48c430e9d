import type { AxiosResponse } from 'axios';
import { readRetryAfter } from '../../platform/http-client/retry-after.rules.js';
import { redact } from '../../platform/redaction/redaction.js';
import type { CallResult } from '../pace/breaker.rules.js';
import { type ExchangeBody, ExchangeError } from './exchange.js';
import type { Ending } from '../pace/limiter.js';
import type { RemoteAnswer, Sent } from '../outcome.rules.js';

/** What one exchange means to the caller, to the breaker and to the limiter. */
export interface Exchanged {
  readonly sent: Sent;
  readonly result: CallResult;
  readonly ending: Ending;
  readonly fault?: string;
  readonly quietMs?: number;
}

export function judgeAnswer(response: AxiosResponse<ExchangeBody>): Exchanged {
  const { status, headers, data } = response;
  const asked = headers['retry-after'] as string | undefined;
  const retryAfterMs = asked === undefined ? undefined : readRetryAfter(asked, answeredAt(headers.date));
  const answer: RemoteAnswer = {
    status,
    contentType: String(headers['content-type'] ?? ''),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    body: data.text,
    ...(data.fault === undefined ? {} : { bodyFault: data.fault }),
  };
  const sent: Sent = { kind: 'answered', answer };
  if (status === 429 || status === 503) {
    return {
      sent,
      result: 'overloaded',
      ending: 'refused',
      fault: `status ${status}`,
      quietMs: retryAfterMs,
    };
  }
  if (status >= 500 || status === 408)
    return { sent, result: 'failed', ending: 'other', fault: `status ${status}` };
  return { sent, result: 'succeeded', ending: 'succeeded' };
}

export function judgeFailure(error: unknown): Exchanged {
  // Other errors come from axios itself, before or after the adapter was called, and the error object contains the credentials.
  const known = error instanceof ExchangeError ? error : new ExchangeError('cancelled', true, 'cancelled');
  const reason = redact(known.message);
  const sent: Sent = known.maybeSent
    ? { kind: 'ambiguous', reason }
    : { kind: 'not_sent', reason: known.fault === 'cancelled' ? 'stopping' : 'unreachable' };
  switch (known.fault) {
    case 'deadline':
      return { sent, result: 'failed', ending: 'timed_out', fault: reason };
    case 'connection':
      return { sent, result: 'failed', ending: 'other', fault: reason };
    case 'cancelled':
      return { sent, result: 'unknown', ending: 'other' };
  }
}

/** Returns the time of the response by the service's clock, since Retry-After may be a date by that clock: ours may be minutes off. */
function answeredAt(date: unknown): Date {
  const at = new Date(typeof date === 'string' ? date : NaN);
  return Number.isNaN(at.getTime()) ? new Date() : at;
}
