import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { errorText } from '../observability/redaction/error-text.js';
import { Environment } from '../platform/env/environment.js';
import { isDatabaseUnavailable } from '../platform/problem/database-unavailable.js';
import { STOP_WITHIN_MS } from '../platform/shutdown/limits.js';
import { ContractDrift } from '../remote/drift/contract-drift.service.js';
import type { NotSent } from '../remote/outcome.rules.js';
import { Remote } from '../remote/remote.service.js';
import type { Fields } from '../remote/wire/read-field.js';
import type { BearerTokens, Grant } from './bearer-tokens.js';
import { type Claim, coolDownMs, planFailure, planToken, renewAfterMs } from './token-plan.rules.js';
import type { TokenRow } from './token-plan.rules.js';
import { findTokenDrift, readTokenResponse, TOKEN_RESPONSE, tokenRequest } from './token.client.js';
import { TokenStore } from './token.store.js';

/** The average pause between two checks whether another process has released the token's lease. */
const CHECK_AGAIN_MS = 50;
/** How long a refusal or an attempted renewal is remembered, so that not every call queries the database. */
const REMEMBER_MS = 1_000;
/** By how much a lease outlasts the timeouts of its holder's requests. */
const LEASE_MARGIN_MS = 1_000;

/** The results of a probe of the credentials: see CredentialsProbeView. */
export const PROBE_OUTCOMES = ['valid', 'token_issued', 'refused', 'no_token', 'too_soon'] as const;
type ProbeOutcome = (typeof PROBE_OUTCOMES)[number];

/** Supplies the tenant's token (interface sections 4.1 and 5): from memory, or else from the database row that all replicas share. */
@Injectable()
export class TenantTokens implements BearerTokens, OnModuleDestroy {
  private readonly logger = new Logger('Auth');
  private readonly stop = new AbortController();
  private readonly timeoutMs = this.environment.SCS_TIMEOUT_MS;
  private cached: { readonly grant: Grant; readonly expiresAt: number; renewAt: number } | undefined;
  private refusal: { readonly outcome: NotSent; readonly until: number } | undefined;
  private rejectedUntil = -Infinity;
  private refusedGeneration = -1;
  /** When the newest grant that was accepted was made. */
  private acceptedGrantAt = -Infinity;
  private lastTurn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: TokenStore,
    private readonly remote: Remote,
    private readonly drift: ContractDrift,
    private readonly environment: Environment,
  ) {}

  onModuleDestroy(): void {
    setTimeout(() => this.stop.abort(), STOP_WITHIN_MS.token).unref();
  }

  async current(): Promise<Grant | NotSent> {
    const { cached } = this;
    const now = performance.now();
    if (cached && now >= cached.renewAt) {
      cached.renewAt = now + REMEMBER_MS;
      void this.renewEarly().catch(this.warn);
    }
    return this.known() ?? this.acquire();
  }

  async replace(refused: Grant): Promise<Grant | NotSent> {
    const { generation, grantedAt, trial } = refused;
    if (trial !== undefined) return this.inTurn(() => this.replaceTested(trial.lease));
    if (generation === this.cached?.grant.generation) {
      // A call that got this token later was accepted. So the service refuses the call, not the token.
      if (this.acceptedGrantAt > grantedAt) return { ...refused, grantedAt: performance.now() };
      this.cached = undefined;
      this.logger.warn(`the remote service refused the token of generation ${generation}`);
    }
    this.refusedGeneration = Math.max(this.refusedGeneration, generation);
    return this.acquire();
  }

  async reject({ trial }: Grant): Promise<NotSent | null> {
    // Outside a trial, the service has accepted this token for another call.
    if (trial === undefined) return null;
    const waitMs = coolDownMs(trial.failures + 1);
    const error = 'the service refused a fresh token';
    // The first refusal may concern only the call of the trial. The next trial is another call.
    const isAnnounced = trial.failures > 0;
    await this.store.fail(trial.lease, { error, waitMs, isRejected: true, isAnnounced }).catch(this.warn);
    return this.refuse('credentials_rejected', waitMs);
  }

  async accept({ trial, grantedAt }: Grant): Promise<void> {
    this.acceptedGrantAt = Math.max(this.acceptedGrantAt, grantedAt);
    if (trial !== undefined) await this.store.accept(trial.lease).catch(this.warn);
  }

  async release({ trial }: Grant): Promise<void> {
    if (trial !== undefined) await this.store.release(trial.lease, REMEMBER_MS).catch(this.warn);
  }

  /** Requests a token even if the next attempt is due later, at most every 5 s for all replicas together. */
  async probe(): Promise<ProbeOutcome> {
    const { state, failures } = await this.store.getStatus();
    if (state === 'valid' && failures === 0) return 'valid';
    if (!(await this.store.claimProbe())) return 'too_soon';
    this.rejectedUntil = -Infinity;
    const obtained = await this.renewEarly();
    if (obtained?.kind === 'not_sent')
      return obtained.reason === 'credentials_rejected' ? 'refused' : 'no_token';
    return obtained === null ? 'too_soon' : 'token_issued';
  }

  /** Requests a token, if one is due, while no call waits for it. */
  private async renewEarly(): Promise<Grant | NotSent | null> {
    const obtained = await this.inTurn(() => this.step(true));
    // A token alone does not end a block: the next call must test it first.
    if (obtained?.kind === 'token' && obtained.trial) await this.store.release(obtained.trial.lease, 0);
    return obtained;
  }

  /** Logs an error while the token is renewed, or the result of a trial is stored. The token expires later, or the trial's lease. */
  private readonly warn = (error: unknown): void =>
    this.logger.warn(`the state of the token could not be stored: ${errorText(error)}`);

  /** Returns the token or the refusal in memory. */
  private known(): Grant | NotSent | undefined {
    const { cached, refusal } = this;
    const now = performance.now();
    if (cached && now < cached.expiresAt) return { ...cached.grant, grantedAt: now };
    return refusal && now < refusal.until ? refusal.outcome : undefined;
  }

  private refuse(reason: NotSent['reason'], retryAfterMs: number): NotSent {
    const now = performance.now();
    const outcome = { kind: 'not_sent', reason, retryAfterMs } as const;
    this.refusal = { outcome, until: now + Math.min(retryAfterMs, REMEMBER_MS) };
    if (reason === 'credentials_rejected') this.rejectedUntil = now + retryAfterMs;
    return outcome;
  }

  /** Lets calls wait for one another, so that one of them reads the row and the others find its result in memory. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.lastTurn.then(work);
    this.lastTurn = turn.catch(() => {});
    return turn;
  }

  private acquire(): Promise<Grant | NotSent> {
    // Long enough for the lease of a dead replica to expire and for this process to obtain a token.
    const until = performance.now() + 2 * this.timeoutMs + LEASE_MARGIN_MS;
    return this.inTurn(async () => {
      while (!this.stop.signal.aborted) {
        const step = this.known() ?? (await this.step(false));
        if (step !== null) return step;
        if (performance.now() > until) return this.refuse('token_unavailable', REMEMBER_MS);
      }
      return this.refuse('stopping', 0);
    });
  }

  /** Returns null if the row must be read again. */
  private async step(renewsEarly: boolean): Promise<Grant | NotSent | null> {
    try {
      const row = await this.store.read();
      const rejectedForMs = this.rejectedUntil - performance.now();
      const plan = planToken(row, { refusedGeneration: this.refusedGeneration, rejectedForMs, renewsEarly });
      switch (plan.kind) {
        case 'use':
          return this.keep(row);
        case 'claim':
          return await this.claim(row, plan);
        case 'wait':
          await sleep(CHECK_AGAIN_MS * (0.5 + Math.random()));
          return null;
        case 'refuse':
          return this.refuse(plan.reason, plan.retryAfterMs);
      }
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      return this.refuse('token_unavailable', REMEMBER_MS);
    }
  }

  private keep(row: TokenRow): Grant {
    if (this.cached?.grant.generation === row.generation) return this.cached.grant;
    const grant = grantOf(row);
    const after = (at: Date) => grant.grantedAt + at.getTime() - row.now.getTime();
    this.cached = { grant, renewAt: after(row.renewAt!), expiresAt: after(row.expiresAt!) };
    return grant;
  }

  /** Obtains another token in a trial, after the stored one was refused. */
  private async replaceTested(lease: string): Promise<Grant | NotSent> {
    try {
      const obtained = await this.obtain(await this.store.read(), lease, true);
      if (obtained === null) return this.refuse('token_unavailable', REMEMBER_MS);
      return 'kind' in obtained ? obtained : trialOf(obtained, lease, false);
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      return this.refuse('token_unavailable', REMEMBER_MS);
    }
  }

  /** Claims the lease and obtains a token, unless the stored one is to be tested. */
  private async claim(row: TokenRow, plan: Claim): Promise<Grant | NotSent | null> {
    const { isTrial, withStored, mayReplace } = plan;
    // In a trial, a call may precede the token request, and a wait in the call queue and a call follow it.
    const leaseMs = (isTrial ? 4 : 1) * this.timeoutMs + LEASE_MARGIN_MS;
    const lease = await this.store.claim(row, leaseMs, isTrial);
    if (lease === null) return null;
    const obtained = withStored ? row : await this.obtain(row, lease, isTrial);
    if (obtained === null || 'kind' in obtained) return obtained;
    if (!isTrial) return this.keep(obtained);
    return trialOf(obtained, lease, mayReplace);
  }

  /** Returns the row with the new token, or null if the lease was lost. */
  private async obtain(row: TokenRow, lease: string, isTrial: boolean): Promise<TokenRow | NotSent | null> {
    const { signal } = this.stop;
    const sent = await this.remote.send({ ...tokenRequest(this.environment), signal });
    const read = (fields: Fields) => readTokenResponse(fields, new Date());
    const outcome = this.drift.interpret('token', sent, TOKEN_RESPONSE, read);
    if (outcome.kind === 'done') {
      this.drift.report('token', findTokenDrift(outcome.value));
      const renewInMs = renewAfterMs(outcome.value.life.lifetimeMs, Math.random());
      return this.store.save(lease, outcome.value, renewInMs, isTrial);
    }
    if (signal.aborted || (outcome.kind === 'not_sent' && outcome.reason === 'stopping')) {
      await this.store.release(lease, 0);
      return this.refuse('stopping', 0);
    }
    const failure = planFailure(outcome, row.failures, Math.random());
    await this.store.fail(lease, failure);
    const level = row.failures === 0 ? 'warn' : 'debug';
    this.logger[level](`${failure.error}; next attempt in ${Math.round(failure.waitMs)} ms`);
    return this.refuse(failure.isRejected ? 'credentials_rejected' : 'token_unavailable', failure.waitMs);
  }
}

const grantOf = ({ token, generation }: TokenRow): Grant => ({
  kind: 'token',
  token: token!,
  generation,
  grantedAt: performance.now(),
});

const trialOf = (row: TokenRow, lease: string, mayReplace: boolean): Grant => ({
  ...grantOf(row),
  trial: { lease, failures: row.failures, mayReplace },
});
