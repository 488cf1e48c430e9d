import { Injectable, Logger } from '@nestjs/common';
import { isDatabaseUnavailable } from '../platform/problem/database-unavailable.js';
import type { NotSent, OperationClass, Outcome, RemoteRequest, Sent } from '../remote/outcome.rules.js';
import { Remote } from '../remote/remote.service.js';
import { isObjectLike } from '../remote/wire/exchange.js';
import { UserTokenStrategy, type BearerTokens, type Grant } from './bearer-tokens.js';
import { Refusals, type Refusal } from './refusals.js';
import { TenantTokens } from './tenant-tokens.service.js';

/** The statuses with which a service refuses the credentials, or a call that they do not allow. */
export const REFUSALS: readonly number[] = [401, 403];

/** Sends calls with a bearer token (interface section 5.2). */
@Injectable()
export class AuthorisedRemote {
  private readonly logger = new Logger('Auth');
  private readonly refusals = new Refusals();
  /** The classes of operations whose calls are refused because of the credentials. */
  private readonly blocked = new Set<OperationClass>();

  constructor(
    private readonly remote: Remote,
    private readonly tenantTokens: TenantTokens,
    private readonly userTokens: UserTokenStrategy,
  ) {}

  /** Sends a request. Use the audience `user` if the interface shows the call with a user access token (sections 4.3, 4.4, 5.7). */
  async send(request: RemoteRequest, audience: 'tenant' | 'user', userId?: string): Promise<Sent> {
    const tokens = audience === 'tenant' ? this.tenantTokens : this.userTokens.tokensFor(userId);
    const sent = await authorisedCall(this.remote, tokens, request, this.refusals);
    if (isServed(sent) && this.refusals.served(request)) this.unblock(request.operation);
    return sent;
  }

  /** Returns what a 401 or 403 is about. Call it once per refused call: a read of a session is one call, whatever the number of its paths. */
  weigh(request: RemoteRequest, status: number): Refusal {
    const refusal = this.refusals.refused(request);
    if (refusal === 'credentials') this.block(request.operation, status);
    return refusal;
  }

  /** Returns the outcome of a POST. A refusal is `not_sent` if it is about the credentials, or a 401, which another token may end. */
  weighOutcome<T>(request: RemoteRequest, outcome: Outcome<T>): Outcome<T> {
    if (outcome.kind !== 'rejected' || !REFUSALS.includes(outcome.status)) return outcome;
    const isRefused = this.weigh(request, outcome.status) === 'credentials' || outcome.status === 401;
    return isRefused ? { kind: 'not_sent', reason: 'credentials_rejected' } : outcome;
  }

  private block(operation: OperationClass, status: number): void {
    if (this.blocked.has(operation)) return;
    this.blocked.add(operation);
    const trouble = `status ${status} to different calls in a row: the credentials may lack the right`;
    this.logger.warn(`${operation}: ${trouble}`);
    this.remote.announceTrouble(operation, trouble);
  }

  private unblock(operation: OperationClass): void {
    if (!this.blocked.delete(operation)) return;
    this.logger.log(`${operation}: calls are served again`);
    this.remote.announceRecovery(operation);
  }

  /** Returns how many calls of an operation may be sent now: none, one that tries whether the service has recovered, or any number. */
  roomFor(operation: OperationClass): number {
    return this.remote.roomFor(operation);
  }
}

/**
 * Sends a request. After a 401, renews the token for all replicas and sends the request once more. This is safe even for a POST, because a
 * refused request had no effect.
 */
export async function authorisedCall(
  remote: Remote,
  tokens: BearerTokens,
  request: RemoteRequest,
  refusals = new Refusals(),
): Promise<Sent> {
  const first = await orUnavailable(tokens.current());
  if (first.kind === 'not_sent') return first;
  const sent = await remote.send(withToken(request, first));
  // The service refuses this call, not the token.
  if (!isRefusal(sent) || refusals.isOdd(request)) return report(tokens, first, sent);
  const second = await orUnavailable(tokens.renewed(first));
  if (second.kind === 'not_sent') return second;
  const sentAgain = await remote.send(withToken(request, second));
  if (!isRefusal(sentAgain)) return report(tokens, second, sentAgain);
  // If this call is the trial (see Grant), its second 401 blocks all calls until a later trial succeeds.
  const refused = await orUnavailable(tokens.refused(second));
  if (refused === null) return sentAgain;
  refusals.refused(request);
  return refused;
}

/**
 * Returns the result of `work`, or `token_unavailable` if the database is unavailable. Call it only if the remote service cannot have acted
 * on the request.
 */
async function orUnavailable<T>(work: T | Promise<T>): Promise<T | NotSent> {
  try {
    return await work;
  } catch (error) {
    if (isDatabaseUnavailable(error)) return { kind: 'not_sent', reason: 'token_unavailable' };
    throw error;
  }
}

/** Always sends the scheme `Bearer`, because in the interface's sample (section 2.2), token_type is the name of the scope. */
const withToken = (request: RemoteRequest, { token }: Grant): RemoteRequest => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${token}` },
});

const isRefusal = (sent: Sent): boolean => sent.kind === 'response' && sent.response.status === 401;

async function report(tokens: BearerTokens, grant: Grant, sent: Sent): Promise<Sent> {
  await (hasAcceptedToken(sent) ? tokens.accepted(grant) : tokens.abandoned(grant));
  return sent;
}

/** A 401 or 403 may be about the token, and a 429 or 5xx may precede its check. */
const hasAcceptedToken = (sent: Sent): boolean =>
  isServed(sent) || (sent.kind === 'response' && isOtherRejection(sent.response.status));

const isOtherRejection = (status: number): boolean =>
  status >= 400 && status < 500 && ![401, 403, 429].includes(status);

/** A page or a redirect is not from the service, but from something in front of it. */
const isServed = (sent: Sent): boolean =>
  sent.kind === 'response' && sent.response.status < 300 && isObjectLike(sent.response.body);
