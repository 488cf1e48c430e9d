import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { errorText } from '../observability/redaction/error-text.js';
import type { NotSent } from '../remote/outcome.rules.js';
import { grantOf, type BearerTokens, type Grant, type UserTokenStrategy } from './bearer-tokens.js';
import { coolDownMs, planToken, type TokenRow } from './token-plan.rules.js';
import { TokenRequest } from './token-request.service.js';
import { TokenStore } from './token.store.js';

/** The average pause between two checks whether another process has released the token's lease. */
const CHECK_AGAIN_MS = 50;
/** How long a refusal or an attempted renewal is remembered, so that not every call queries the database. */
const REMEMBER_MS = 1_000;
/** If the service refuses a token younger than this in a trial (see Grant), no new token is requested: its age is not the reason. */
const TOO_YOUNG_TO_REPLACE_MS = 5_000;
/** By how much a lease outlasts the timeouts of its holder's requests. */
const LEASE_MARGIN_MS = 1_000;

/** Returns the lease of a trial: long enough for a token request, a wait in the call queue and a call. Saving a token renews it. */
export const trialLeaseMs = ({ SCS_TIMEOUT_MS }: Pick<Environment, 'SCS_TIMEOUT_MS'>): number =>
  3 * SCS_TIMEOUT_MS + LEASE_MARGIN_MS;

const REFUSED: NotSent = { kind: 'not_sent', reason: 'credentials_rejected' };
const STOPPING: NotSent = { kind: 'not_sent', reason: 'stopping' };

const NONE_SUSPECTED = { generation: 0, stored: Promise.resolve() };

/** Null: read the row again. */
type Step = Grant | NotSent | null;

/** Supplies the tenant's token (interface sections 4.1 and 5): from memory, or else from the database row that all replicas share. */
// Within a process, one read of the row serves all waiting calls. Only the replica that has leased the row requests a token.
@Injectable()
export class TenantTokens implements BearerTokens, UserTokenStrategy {
  private readonly logger = new Logger('Auth');
  private readonly timeoutMs = this.environment.SCS_TIMEOUT_MS;
  private readonly trialLeaseMs = trialLeaseMs(this.environment);
  private cached: { readonly grant: Grant; readonly expiresAt: number; renewAt: number } | undefined;
  private refusal: { readonly until: number; readonly outcome: NotSent } | undefined;
  private stepping: Promise<Step> | undefined;
  /** Until when the service must not be asked again, because it refused our credentials. */
  private rejectedUntil = -Infinity;
  /** When the newest grant that was accepted was made. */
  private acceptedGrantAt = -Infinity;
  /** The newest token that a call of this process saw refused. */
  private suspected = NONE_SUSPECTED;
  /** Logs that the result of a trial (see Grant) could not be saved. The caller still gets the response, and the trial's lease expires. */
  private readonly notSaved = (error: unknown) =>
    this.logger.warn(`the outcome of a token trial could not be stored: ${errorText(error)}`);

  constructor(
    private readonly store: TokenStore,
    private readonly request: TokenRequest,
    private readonly environment: Environment,
  ) {}

  /** Returns the tenant token for every user, as the interface's samples suggest. */
  tokensFor(): BearerTokens {
    return this;
  }

  current(): Grant | NotSent | Promise<Grant | NotSent> {
    const now = performance.now();
    const { cached, refusal } = this;
    if (cached && now < cached.expiresAt) {
      if (now >= cached.renewAt) {
        cached.renewAt = now + REMEMBER_MS;
        void this.renewInBackground(cached.grant);
      }
      return { ...cached.grant, grantedAt: now };
    }
    return refusal && now < refusal.until ? refusal.outcome : this.acquire();
  }

  async renewed(refused: Grant): Promise<Grant | NotSent> {
    const { generation, trial } = refused;
    if (trial !== undefined) return this.renewOnTrial(refused, trial);
    const isCached = generation === this.cached?.grant.generation;
    if (isCached) {
      // A call that got this token later was accepted. So the service refuses the call, not the token.
      if (this.acceptedGrantAt > refused.grantedAt) return { ...refused, grantedAt: performance.now() };
      this.cached = undefined;
    }
    await this.suspect(generation);
    // This step may have read the row before the refusal was stored.
    await this.stepping?.catch(() => {});
    if (this.cached?.grant.generation === generation) this.cached = undefined;
    return this.acquire();
  }

  async refused({ trial }: Grant): Promise<NotSent | null> {
    // Outside a trial (see Grant), the service has accepted this token for another call.
    return trial === undefined ? null : this.refusedTrial(trial);
  }

  private async refusedTrial(trial: string): Promise<NotSent> {
    let retryAfterMs = coolDownMs(1);
    try {
      retryAfterMs = coolDownMs((await this.store.read()).failures + 1);
      await this.store.refuse(trial, retryAfterMs);
    } catch (error) {
      this.notSaved(error);
    }
    this.logger.debug(
      `the remote service refuses a fresh token: calls are blocked, next trial in ${retryAfterMs} ms`,
    );
    return this.remember({ ...REFUSED, retryAfterMs });
  }

  async accepted({ trial, grantedAt }: Grant): Promise<void> {
    this.acceptedGrantAt = Math.max(this.acceptedGrantAt, grantedAt);
    if (trial === undefined) return;
    this.logger.log('the remote service accepts the token');
    await this.store.accept(trial).catch(this.notSaved);
  }

  async abandoned({ trial }: Grant): Promise<void> {
    if (trial !== undefined) await this.store.release(trial, REMEMBER_MS).catch(this.notSaved);
  }

  /** Stores the refusal of a token. All calls with this token wait for it; if it fails, the next one tries again. */
  private suspect(generation: number): Promise<void> {
    if (this.suspected.generation >= generation) return this.suspected.stored;
    const stored = this.store.suspect(generation).then((isNew) => {
      if (isNew) this.logger.warn(`the remote service refused the token of generation ${generation}`);
    });
    const suspected = { generation, stored };
    this.suspected = suspected;
    stored.catch(() => {
      if (this.suspected === suspected) this.suspected = NONE_SUSPECTED;
    });
    return stored;
  }

  private async acquire(): Promise<Grant | NotSent> {
    // Long enough for the lease of a dead replica to expire and for this process to obtain a token.
    const until = performance.now() + 2 * this.timeoutMs + LEASE_MARGIN_MS;
    while (!this.request.isStopping) {
      const beginsStep = this.stepping === undefined;
      this.stepping ??= this.step().finally(() => (this.stepping = undefined));
      const step = await this.stepping;
      if (step?.kind === 'not_sent') {
        if (step.reason === 'credentials_rejected')
          this.rejectedUntil = performance.now() + (step.retryAfterMs ?? 0);
        return step;
      }
      // In a trial, only the caller that began the step gets the token, to test it with its call. Other callers repeat the loop.
      if (step !== null && (step.trial === undefined || beginsStep))
        return { ...step, grantedAt: performance.now() };
      if (performance.now() > until)
        return { kind: 'not_sent', reason: 'token_unavailable', retryAfterMs: REMEMBER_MS };
    }
    return STOPPING;
  }

  private async step(): Promise<Step> {
    const row = await this.store.read();
    const rejectedMs = this.rejectedUntil - performance.now();
    // Replicas with other credentials have a token. A further refusal of ours would replace it in the row, and be announced.
    if (!row.ours && rejectedMs > 0)
      return this.remember({ ...REFUSED, retryAfterMs: Math.ceil(rejectedMs) });
    const plan = planToken(row);
    switch (plan.kind) {
      case 'use':
        return this.cacheStored(row) ?? this.renew(row);
      case 'renew':
        return this.renew(row);
      case 'try':
        return this.tryOut(row, plan.withToken);
      case 'wait':
        await sleep(CHECK_AGAIN_MS * (0.5 + Math.random()));
        return null;
      case 'refuse':
        return this.remember({ ...plan, kind: 'not_sent' });
    }
  }

  private remember(outcome: NotSent): NotSent {
    this.refusal = { until: performance.now() + Math.min(outcome.retryAfterMs ?? 0, REMEMBER_MS), outcome };
    return outcome;
  }

  /** Returns undefined if no key can decrypt the stored token. */
  private cacheStored(row: TokenRow): Grant | undefined {
    const token = this.store.open(row);
    if (token === null) return undefined;
    const grant = grantOf(token, row.generation);
    const after = (ms: number | null) => grant.grantedAt + (ms ?? 0);
    this.cached = { grant, renewAt: after(row.renewInMs), expiresAt: after(row.expiresInMs) };
    return grant;
  }

  /** Renews a token that is still valid, while calls continue to use it. If this fails, a later call triggers the next renewal. */
  private async renewInBackground({ generation }: Grant): Promise<void> {
    try {
      let row = await this.store.read();
      const plan = planToken(row);
      if (plan.kind === 'renew' || (plan.kind === 'use' && plan.alsoRenew)) {
        await this.renew(row);
        row = await this.store.read();
      }
      if (row.generation !== generation && planToken(row).kind === 'use') this.cacheStored(row);
    } catch (error) {
      this.logger.warn(`the token could not be renewed: ${errorText(error)}`);
    }
  }

  /** Renews the token in the row that all replicas share. Returns null if the row must be read again. */
  private async renew(row: TokenRow): Promise<NotSent | null> {
    const lease = await this.store.claimLease(row, this.timeoutMs + LEASE_MARGIN_MS);
    const obtained = lease === null ? null : await this.request.obtain(row, lease, null);
    return obtained?.kind === 'not_sent' ? obtained : null;
  }

  private async tryOut(row: TokenRow, withToken: 'stored' | 'new'): Promise<Step> {
    const lease = await this.store.claimLease(row, this.trialLeaseMs);
    if (lease === null) return null;
    const token = withToken === 'stored' ? this.store.open(row) : null;
    if (token === null) return this.request.obtain(row, lease, this.trialLeaseMs);
    return { ...grantOf(token, row.generation), trial: lease };
  }

  private async renewOnTrial(refused: Grant, lease: string): Promise<Grant | NotSent> {
    const row = await this.store.read();
    if (row.generation !== refused.generation) return this.acquire();
    if ((row.obtainedAgoMs ?? 0) < TOO_YOUNG_TO_REPLACE_MS) return this.refusedTrial(lease);
    return (await this.request.obtain(row, lease, this.trialLeaseMs)) ?? this.acquire();
  }
}
