import { Injectable } from '@nestjs/common';
import type { OperationClass, Outcome, RemoteRequest, Sent } from '../remote/outcome.rules.js';
import { Remote } from '../remote/remote.service.js';
import { BearerTokens, isServed } from './bearer-tokens.js';
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
    let last: Sent | undefined;
    const send = async (token: string) => (last = await this.remote.send(withToken(request, token)));
    const sent = await tokens.send({ send, isOdd: this.refusals.isOdd(request) }, userId);
    const isRejected = sent.kind === 'not_sent' && sent.reason === 'credentials_rejected';
    if (isRejected && last !== undefined) this.refusals.recordRefused(request);
    const isRecovered = isServed(sent) && this.refusals.recordServed(request);
    if (isRecovered && this.blocked.delete(request.operation))
      this.remote.peers.announce(request.operation, null);
    return sent;
  }

  /** Returns what a 401 or 403 is about. Call it once per refused call. A read of a session is one call, even if it tries both paths. */
  weigh(request: RemoteRequest, status: number): Refusal {
    const { operation } = request;
    const refusal = this.refusals.recordRefused(request);
    if (refusal === 'credentials' && !this.blocked.has(operation)) {
      this.blocked.add(operation);
      const trouble = `status ${status} to different calls in a row: the credentials may lack the right`;
      this.remote.peers.announce(operation, trouble);
    }
    return refusal;
  }

  /** Returns the outcome of a POST. A refusal of the credentials is `not_sent`. So is any 401, because another token may succeed. */
  weighOutcome<T>(request: RemoteRequest, outcome: Outcome<T>): Outcome<T> {
    if (outcome.kind !== 'rejected' || !REFUSALS.includes(outcome.status)) return outcome;
    const isRefused = this.weigh(request, outcome.status) === 'credentials' || outcome.status === 401;
    return isRefused ? { kind: 'not_sent', reason: 'credentials_rejected' } : outcome;
  }

  roomFor(operation: OperationClass): number {
    return this.remote.gates[operation].room;
  }
}

/** Sends the scheme `Bearer`, because token_type in the interface's sample (section 2.2) is the name of the scope, not a scheme. */
export const withToken = (request: RemoteRequest, token: string): RemoteRequest => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${token}` },
});
