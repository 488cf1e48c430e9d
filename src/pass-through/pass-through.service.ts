import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { AuthorisedRemote } from '../auth/authorised-remote.service.js';
import { passedRequestHeaders, passedResponseHeaders } from '../platform/env/pass-through.rules.js';
import { Problem } from '../platform/problem/problem.js';
import { describeNotSent, type PassedCall, type RemoteRequest, type Sent } from '../remote/outcome.rules.js';
import type { ArrivingBody } from './passed-body.js';
import { PassedExchange, type PassedResponse } from './passed-exchange.js';

type Call = Pick<RemoteRequest, 'method' | 'path'> & {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
};

/** How soon to send a call again that was not sent. */
const RETRY_AFTER_MS = 5_000;

@Injectable()
export class PassThrough {
  constructor(private readonly remote: AuthorisedRemote) {}

  /** Returns the headers of a request that are passed on. */
  requestHeaders(headers: IncomingHttpHeaders): Record<string, string> {
    return passedRequestHeaders(headers);
  }

  /** Returns the headers of a response that are passed on. */
  responseHeaders(headers: PassedResponse['headers']): Record<string, string> {
    return passedResponseHeaders(headers);
  }

  /** Sends a call. Resolves with the head of the response; its body follows. Throws Problem if there is no response to pass on. */
  pass(call: Call, body?: ArrivingBody): Promise<PassedResponse> {
    return new Promise((resolve, reject) => {
      const open: PassedCall['open'] = (limits) => new PassedExchange(body, resolve, limits);
      const passed = { ...(body && { body }), open };
      const request: RemoteRequest = { ...call, operation: 'pass_through', passed };
      // A response that has begun is with the caller already: then the rejection has no effect.
      this.remote
        .send(request, 'tenant')
        .finally(() => body?.stop())
        .then(
          (sent) => reject(body?.fault instanceof Problem ? body.fault : problemOf(sent, call.method)),
          reject,
        );
    });
  }
}

function problemOf(sent: Sent, method: string): Problem {
  if (sent.kind === 'response' || (sent.kind === 'not_sent' && sent.reason === 'credentials_rejected'))
    return new Problem(
      'remote_credentials_rejected',
      'The Solar Curtailment Service does not accept our credentials for this call; nothing was done',
    );
  if (sent.kind === 'not_sent')
    return new Problem('remote_unavailable', `Nothing was sent: ${describeNotSent(sent)}`, {
      retryAfterSeconds: (sent.retryAfterMs ?? RETRY_AFTER_MS) / 1_000,
    });
  const meaning =
    method === 'GET'
      ? 'The GET was sent once and is not repeated'
      : `The ${method} was sent once, is not repeated, and may have had its effect`;
  return new Problem('remote_response_lost', `${meaning}: ${sent.reason}`);
}
