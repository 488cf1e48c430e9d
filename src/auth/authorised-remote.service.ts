import { Injectable } from '@nestjs/common';
import type { NotSent, OperationClass, Outcome, RemoteRequest, Sent } from '../remote/outcome.rules.js';
import { Remote } from '../remote/remote.service.js';
import { isObjectLike } from '../remote/wire/exchange.js';
import { BearerTokens, type Grant } from './bearer-tokens.js';
import { Refusals, type Refusal } from './refusals.js';
import { TenantTokens } from './tenant-tokens.service.js';

/** The statuses with which a service refuses the credentials, or a call that they do not allow. */
export const REFUSALS: readonly number[] = [401, 403];

/** Sends calls with a bearer token (interface section 5.2). */
@Injectable()
export class AuthorisedRemote {
  private readonly refusals = new Refusals();
  /** The classes of operations whose calls are refused because of the credentials. */
  private readonly blocked = new Set<OperationClass>();

  constructor(
    private readonly remote: Remote,
    private readonly tenantTokens: TenantTokens,
    private readonly userTokens: BearerTokens,
  ) {}

  /** Sends a request. Use the audience `user` if the interface shows the call with a user access token (sections 4.3, 4.4, 5.7). */
  async send(request: RemoteRequest, audience: 'tenant' | 'user', userId?: string): Promise<Sent> {
    const tokens = audience === 'tenant' ? this.tenantTokens : this.userTokens;
    const sent = await sendWithToken(this.remote, tokens, request, { refusals: this.refusals, userId });
    const isRecovered = isServed(sent) && this.refusals.recordServed(request);
    if (isRecovered && this.blocked.delete(request.operation))
      this.remote.announceRecovery(request.operation);
    return sent;
  }

  /** Returns what a 401 or 403 is about. Call it once per refused call: a read of a session is one call, whatever the number of its paths. */
  weigh(request: RemoteRequest, status: number): Refusal {
    const { operation } = request;
    const refusal = this.refusals.recordRefused(request);
    if (refusal === 'credentials' && !this.blocked.has(operation)) {
      this.blocked.add(operation);
      const trouble = `status ${status} to different calls in a row: the credentials may lack the right`;
      this.remote.announceTrouble(operation, trouble);
    }
    return refusal;
  }

  /** Returns the outcome of a POST. A refusal is `not_sent` if it is about the credentials, or a 401, which another token may end. */
  weighOutcome<T>(request: RemoteRequest, outcome: Outcome<T>): Outcome<T> {
    if (outcome.kind !== 'rejected' || !REFUSALS.includes(outcome.status)) return outcome;
    const isRefused = this.weigh(request, outcome.status) === 'credentials' || outcome.status === 401;
    return isRefused ? { kind: 'not_sent', reason: 'credentials_rejected' } : outcome;
  }

  /** Returns how many calls of an operation may be sent now: none, one that tries whether the service has recovered, or any number. */
  roomFor(operation: OperationClass): number {
    return this.remote.roomFor(operation);
  }
}

interface Caller {
  readonly refusals?: Refusals;
  readonly userId?: string | undefined;
}

/** Sends a request. After a 401, sends it once more with another token. This is safe even for a POST, because a refused request had no effect. */
export async function sendWithToken(
  remote: Remote,
  tokens: BearerTokens,
  request: RemoteRequest,
  { refusals = new Refusals(), userId }: Caller = {},
): Promise<Sent> {
  const send = ({ token }: Grant) => remote.send(withToken(request, token));
  let grant: Grant | NotSent = await tokens.current(userId);
  if (grant.kind === 'not_sent') return grant;
  let sent = await send(grant);
  // The service refuses this call, not the token.
  const isOdd = refusals.isOdd(request);
  if (is401(sent) && !isOdd && grant.trial?.mayReplace !== false) {
    grant = await tokens.replace(grant, userId);
    if (grant.kind === 'not_sent') return grant;
    sent = await send(grant);
  }
  if (!is401(sent) || isOdd) {
    await (hasAcceptedToken(sent) ? tokens.accept(grant) : tokens.release(grant));
    return sent;
  }
  const rejection = await tokens.reject(grant);
  if (rejection === null) return sent;
  refusals.recordRefused(request);
  return rejection;
}

/** Always sends the scheme `Bearer`, because in the interface's sample (section 2.2), token_type is the name of the scope. */
const withToken = (request: RemoteRequest, token: string): RemoteRequest => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${token}` },
});

const is401 = (sent: Sent): boolean => sent.kind === 'response' && sent.response.status === 401;

/** A 401 or 403 may be about the token, and a 429 or 5xx may precede its check. */
const hasAcceptedToken = (sent: Sent): boolean =>
  isServed(sent) || (sent.kind === 'response' && isOtherRejection(sent.response.status));

const isOtherRejection = (status: number): boolean =>
  status >= 400 && status < 500 && ![401, 403, 429].includes(status);

/** A page or a redirect is not from the service, but from something in front of it. */
const isServed = (sent: Sent): boolean =>
  sent.kind === 'response' && sent.response.status < 300 && isObjectLike(sent.response.body);
