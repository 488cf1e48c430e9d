import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { redact } from '../platform/redaction/redaction.js';
import { hideToken } from '../platform/redaction/secrets.js';
import type { NotSent } from '../remote/outcome.rules.js';
import type { BearerTokens, Grant } from './bearer-tokens.js';
import { coolDownMs, planToken, type TokenRow } from './token-plan.js';
import { TokenRenewal } from './token-renewal.service.js';
import { TokenStore } from './token.store.js';

/** How often a process checks whether the holder of the lease has finished. */
const LOOK_AGAIN_MS = 50;
/** How long a refusal, or a renewal by another replica, is remembered, so that not every call queries the database. */
const REMEMBER_MS = 1_000;
/** Within a trial, a token younger than this is not replaced: a refusal is not due to its age. */
const TOO_YOUNG_TO_REPLACE_MS = 5_000;
/** Margin between the deadline of the holder's own call and the end of its lease. */
const LEASE_MARGIN_MS = 1_000;

interface HeldToken {
  readonly grant: Grant;
  readonly expiresAt: number;
  renewAt: number;
}

type Step = Grant | NotSent | { readonly kind: 'again' };

/**
 * Supplies the tenant's token to all calls (interface sections 4.1 and 5). A valid one is cached in memory and costs no query. Without one,
 * the shared row determines the next step (token-plan.ts). Within a process one read of the row serves all waiting calls; among replicas
 * the lease in the row lets one act.
 */
@Injectable()
export class TenantTokens implements BearerTokens {
  private readonly logger = new Logger('Auth');
  private readonly timeoutMs: number;
  private readonly trialLeaseMs: number;
  private held: HeldToken | undefined;
  private refusal: { readonly until: number; readonly answer: NotSent } | undefined;
  private stepping: Promise<Step> | undefined;
  private readonly trialsTaken = new WeakSet<Grant>();
  private acceptedAt = -Infinity;
  private suspected = 0;

  constructor(
    private readonly store: TokenStore,
    private readonly renewal: TokenRenewal,
    environment: Environment,
  ) {
    this.timeoutMs = environment.SCS_TIMEOUT_MS;
    // A trial is a token request and a call that waits for its turn, or a call followed by these; obtaining a token restarts the lease.
    this.trialLeaseMs = 3 * this.timeoutMs + LEASE_MARGIN_MS;
  }

  current(): Grant | NotSent | Promise<Grant | NotSent> {
    const now = monotonicMs();
    const { held, refusal } = this;
    if (held && now < held.expiresAt) {
      if (now >= held.renewAt) this.renewBeside(held);
      return { ...held.grant, grantedAt: now };
    }
    return refusal && now < refusal.until ? refusal.answer : this.acquire();
  }

  async renewed(refused: Grant): Promise<Grant | NotSent> {
    if (refused.trial !== undefined) return this.renewOnTrial(refused, refused.trial);
    // Other calls were accepted with this token after this one started, so the service refuses this call, not the token.
    if (refused.generation === this.held?.grant.generation && this.acceptedAt > refused.grantedAt)
      return REFUSED;
    if (this.held?.grant.generation === refused.generation) this.held = undefined;
    if (this.suspected < refused.generation) {
      this.suspected = refused.generation;
      this.logger.warn(`the service refused the token of generation ${refused.generation}`);
      await this.store.suspect(refused.generation);
    }
    return this.acquire();
  }

  async refused(grant: Grant): Promise<NotSent> {
    // A renewed token that is not a trial has been accepted from another call in the meantime.
    if (grant.trial === undefined) return REFUSED;
    const { trial } = grant;
    let retryAfterMs = coolDownMs(1);
    await this.tell(async () => {
      const { failures } = await this.store.read();
      retryAfterMs = coolDownMs(failures + 1);
      await this.store.refuse(trial, retryAfterMs);
    });
    this.logger.error(
      `the service refuses a fresh token: calls are held back, next trial in ${retryAfterMs} ms`,
    );
    return this.remember({ ...REFUSED, retryAfterMs });
  }

  accepted(grant: Grant): void | Promise<void> {
    this.acceptedAt = monotonicMs();
    const { trial } = grant;
    if (trial === undefined) return;
    this.logger.log('the service accepts the token');
    return this.tell(() => this.store.accept(trial));
  }

  abandoned(grant: Grant): void | Promise<void> {
    const { trial } = grant;
    return trial === undefined ? undefined : this.tell(() => this.store.release(trial, REMEMBER_MS));
  }

  /** Saves the result of a trial. If the database is unavailable, the call still returns its response, and the lease lapses. */
  private async tell(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn(`the outcome of a trial could not be saved: ${redact(String(error))}`);
    }
  }

  private async acquire(): Promise<Grant | NotSent> {
    // Long enough for the lease of a dead replica to lapse and for this process to obtain a token.
    const until = monotonicMs() + 2 * this.timeoutMs + LEASE_MARGIN_MS;
    for (;;) {
      this.stepping ??= this.step().finally(() => (this.stepping = undefined));
      const step = await this.stepping;
      if (step.kind === 'not_sent') return step;
      if (step.kind === 'token' && step.trial === undefined) return { ...step, grantedAt: monotonicMs() };
      if (step.kind === 'token' && !this.trialsTaken.has(step)) {
        this.trialsTaken.add(step);
        return step;
      }
      if (monotonicMs() > until)
        return { kind: 'not_sent', reason: 'token_unavailable', retryAfterMs: REMEMBER_MS };
    }
  }

  private async step(): Promise<Step> {
    const row = await this.store.read();
    const plan = planToken(row);
    switch (plan.kind) {
      case 'use':
        return this.hold(row) ?? this.renew(row);
      case 'renew':
        return this.renew(row);
      case 'try':
        return this.tryOut(row, plan.withToken);
      case 'wait':
        await sleep(LOOK_AGAIN_MS * (0.5 + Math.random()));
        return { kind: 'again' };
      case 'refuse':
        return this.remember({ kind: 'not_sent', reason: plan.reason, retryAfterMs: plan.retryAfterMs });
    }
  }

  private remember(answer: NotSent): NotSent {
    this.refusal = { until: monotonicMs() + Math.min(answer.retryAfterMs ?? 0, REMEMBER_MS), answer };
    return answer;
  }

  /** Caches the stored token; returns undefined if no key can decrypt it. */
  private hold(row: TokenRow): Grant | undefined {
    const token = this.store.open(row);
    if (token === null) return undefined;
    hideToken(token);
    const now = monotonicMs();
    const grant: Grant = { kind: 'token', token, generation: row.generation, grantedAt: now };
    this.held = { grant, renewAt: now + (row.renewInMs ?? 0), expiresAt: now + (row.expiresInMs ?? 0) };
    return grant;
  }

  /** Renews a token that is still valid: no call waits, and if it fails a later call tries again. */
  private renewBeside(held: HeldToken): void {
    held.renewAt = monotonicMs() + REMEMBER_MS;
    void (async () => {
      const row = await this.store.read();
      const plan = planToken(row);
      if (plan.kind === 'use' && row.generation !== held.grant.generation) this.hold(row);
      else if (plan.kind === 'renew' || (plan.kind === 'use' && plan.renewBeside)) await this.renew(row);
    })().catch((error: unknown) => this.logger.warn(`token not renewed: ${redact(String(error))}`));
  }

  private async renew(row: TokenRow): Promise<Step> {
    const lease = await this.store.claimLease(row, this.timeoutMs + LEASE_MARGIN_MS);
    return lease === null ? { kind: 'again' } : this.obtain(row, lease, null);
  }

  private async tryOut(row: TokenRow, withToken: 'held' | 'new'): Promise<Step> {
    const lease = await this.store.claimLease(row, this.trialLeaseMs);
    if (lease === null) return { kind: 'again' };
    const token = withToken === 'held' ? this.store.open(row) : null;
    if (token === null) return this.obtain(row, lease, this.trialLeaseMs);
    hideToken(token);
    return {
      kind: 'token',
      token,
      generation: row.generation,
      grantedAt: monotonicMs(),
      trial: lease,
    };
  }

  private async renewOnTrial(refused: Grant, lease: string): Promise<Grant | NotSent> {
    const row = await this.store.read();
    if (row.generation !== refused.generation) return this.acquire();
    if ((row.obtainedAgoMs ?? 0) < TOO_YOUNG_TO_REPLACE_MS) return this.refused(refused);
    const step = await this.obtain(row, lease, this.trialLeaseMs);
    return step.kind === 'again' ? this.acquire() : step;
  }

  /** Obtains a token under the lease. `trialLeaseMs` is null outside a trial. */
  private async obtain(row: TokenRow, lease: string, trialLeaseMs: number | null): Promise<Step> {
    const renewal = await this.renewal.obtain(row, lease, trialLeaseMs);
    if (renewal.kind !== 'obtained') return renewal.kind === 'not_sent' ? renewal : { kind: 'again' };
    const { token, generation, renewInMs } = renewal;
    const now = monotonicMs();
    const grant: Grant = { kind: 'token', token: token.value, generation, grantedAt: now };
    if (trialLeaseMs !== null) return { ...grant, trial: lease };
    this.held = { grant, renewAt: now + renewInMs, expiresAt: now + token.life.lifetimeMs };
    return grant;
  }
}

const REFUSED: NotSent = { kind: 'not_sent', reason: 'credentials_rejected' };

const monotonicMs = (): number => performance.now();
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
