import { Injectable } from '@nestjs/common';
import type { OperationClass, Outcome, RemoteRequest, Sent } from '../remote/outcome.rules.js';
import { Remote } from '../remote/remote.service.js';
import { BearerTokens, isServed } from './bearer-tokens.js';
import { Refusals, type Refusal, type RefusalKind } from './refusals.js';
import { TenantTokens } from './tenant-tokens.service.js';

/** The statuses with which a service refuses the credentials, or a call that they do not allow. */
export const REFUSALS: readonly number[] = [401, 403];
/** The status of a conflict, which only the service can know. */
const CONFLICT = 409;
/** The statuses that refuse what a request contains. Any further 4xx may come from a proxy, a firewall or a gateway without a route, too. */
const ABOUT_CONTENT: readonly number[] = [400, 422];
const kindOf = (status: number): RefusalKind => {
  if (REFUSALS.includes(status)) return 'refused';
  return ABOUT_CONTENT.includes(status) ? 'content' : 'missing';
};

/** The access token was refused and has been renewed, so the caller may send the same request at once. */
const BODY_IS_SPENT: Sent = { kind: 'not_sent', reason: 'token_unavailable', retryAfterMs: 1_000 };

/** Sends calls with a bearer token (interface section 5.2). */
@Injectable()
export class AuthorisedRemote {
  private readonly refusals = new Refusals();
  /** The classes of operations all of whose calls are refused. */
  private readonly blocked = new Set<OperationClass>();

  constructor(
    private readonly remote: Remote,
    private readonly tenantTokens: TenantTokens,
    private readonly userTokens: BearerTokens,
  ) {}

  /** Sends a request. Use the audience `user` if the interface shows the call with a user access token (sections 4.3, 4.4, 5.7). */
  async send(request: RemoteRequest, audience: 'tenant' | 'user', userId?: string): Promise<Sent> {
    const tokens = audience === 'tenant' ? this.tenantTokens : this.userTokens;
    let last: { readonly token: string; readonly sent: Sent } | undefined;
    const send = async (token: string): Promise<Sent> => {
      // The body of a caller is not stored, so it cannot be sent again with another token. The same would be refused again.
      if (last !== undefined && request.passed?.body !== undefined)
        return last.token === token ? last.sent : BODY_IS_SPENT;
      last = { token, sent: await this.remote.send(withToken(request, token)) };
      return last.sent;
    };
    const { operation } = request;
    const sent = await tokens.send({ send, operation, isOdd: this.refusals.isOdd(request) }, userId);
    const isRejected = sent.kind === 'not_sent' && sent.reason === 'credentials_rejected';
    if (isRejected && last !== undefined) this.refusals.recordRefused(request);
    if (isServed(sent)) {
      this.refusals.recordServed(request);
      if (this.blocked.delete(operation)) this.remote.peers.announce(operation, null);
    }
    return sent;
  }

  /**
   * Returns what a refusal (401 or 403) or a missing call is about. Call it once per refused call. A read of a session is one call, even
   * if it tries both paths. Default of `kind`: by the status.
   */
  weigh(request: RemoteRequest, status: number, kind = kindOf(status)): Refusal {
    const refusal = this.refusals.recordRefused(request, performance.now(), kind);
    if (refusal === 'all') this.blockAll(request.operation, status, kind);
    return refusal;
  }

  /**
   * Returns what a refused or missing read is about. Reads of other sessions usually show it. If they do not, sends the base probe: with
   * `always`, or if only few sessions are missing, since no other session may be due.
   */
  async weighRead(request: RemoteRequest, status: number, probes: 'few' | 'always'): Promise<Refusal> {
    const kind = kindOf(status);
    const refusal = this.refusals.recordRefused(request, performance.now(), kind);
    if (refusal === 'call') return refusal;
    const { isOfFew, hasLasted } = this.refusals.rowOf(request.operation);
    // The base probe carries no token, so it shows nothing about a 401.
    const isUnknown = refusal === 'unknown' && status !== 401;
    const mayProbe = (kind === 'missing' && isOfFew) || (probes === 'always' && isUnknown);
    const probed = mayProbe ? await this.remote.probe(request) : undefined;
    if (probed !== undefined && probed !== status) return 'call';
    if (refusal === 'all') this.blockAll(request.operation, status, kind);
    else if (kind === 'missing' && hasLasted)
      this.block(
        request.operation,
        `status ${status} to every call: something before the remote service may answer`,
      );
    return refusal;
  }

  /**
   * Returns the outcome of a POST. A refusal of the credentials is `not_sent`. So is any 401, because another token may succeed. A status
   * with which a gateway responds, too, ends a registration only if it lasts while others are served. A conflict or a status about its
   * content ends it at once, unless the base probe gets the same status.
   */
  async weighOutcome<T>(request: RemoteRequest, outcome: Outcome<T>): Promise<Outcome<T>> {
    if (outcome.kind === 'not_sent' && outcome.reason === 'foreign_response')
      this.refusals.recordRefused(request, performance.now(), 'missing');
    if (outcome.kind !== 'rejected') return outcome;
    const { status, detail } = outcome;
    const kind = kindOf(status);
    const isStart = request.operation === 'start_session';
    // A refused start changes nothing in our database. Its caller gets the error, and may start again.
    const isOwn = status === CONFLICT || kind === 'content';
    if (isStart && isOwn) return outcome;
    const refusal = status === CONFLICT ? 'unknown' : this.weigh(request, status, kind);
    if (status === 401 || (status === 403 && refusal === 'all'))
      return { kind: 'not_sent', reason: 'credentials_rejected' };
    const isFinal =
      this.refusals.isLasting(request) || (isOwn && (await this.isOfService(request, status, refusal)));
    if (isStart || isFinal) return outcome;
    return { kind: 'not_sent', reason: 'foreign_response', detail: `status ${status}: ${detail}` };
  }

  /** Returns whether the service itself refuses what a request contains. */
  // A firewall may refuse all requests. The refusals are counted in memory, so a process that restarts again and again needs the probe.
  private async isOfService(request: RemoteRequest, status: number, refusal: Refusal): Promise<boolean> {
    const isSudden = this.refusals.isSudden(request.operation, refusal);
    return !isSudden && (await this.remote.probe(request)) !== status;
  }

  private blockAll(operation: OperationClass, status: number, kind: RefusalKind): void {
    const cause =
      kind === 'refused'
        ? 'the credentials may lack the right'
        : 'something before the remote service may answer';
    this.block(operation, `status ${status} to different calls in a row: ${cause}`);
  }

  private block(operation: OperationClass, trouble: string): void {
    if (this.blocked.has(operation)) return;
    this.blocked.add(operation);
    this.remote.peers.announce(operation, trouble);
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
