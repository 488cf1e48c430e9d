import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { redact } from '../platform/redaction/redaction.js';
import { hideToken } from '../platform/redaction/secrets.js';
import type { NotSent } from '../remote/outcome.rules.js';
import type { BearerTokens, Grant } from './bearer-tokens.js';
import { coolDownMs, planToken, type TokenRow } from './token-plan.js';
import { TokenRenewal } from './token-renewal.service.js';
import { TokenStore } from './token.store.js';

/** How often a process looks whether the holder of the lease is done. */
const LOOK_AGAIN_MS = 50;
/** A refusal, and a renewal that another replica is at, are remembered this long, so that not every call asks the database. */
const REMEMBER_MS = 1_000;
/** Within a trial, a token younger than this is not replaced: a refusal of it is not about its age. */
const TOO_YOUNG_TO_REPLACE_MS = 5_000;
/** Between the deadline of the holder's own call and the lapse of its lease. */
const LEASE_MARGIN_MS = 1_000;

interface HeldToken {
  readonly grant: Grant;
  readonly expiresAt: number;
  renewAt: number;
}

type Step = Grant | NotSent | { readonly kind: 'again' };

/**
 * The tenant's token for whoever calls (interface sections 4.1 and 5). A valid one is kept in memory and costs no query. What to
 * do without one is decided from the shared row (token-plan.ts); within a process one look at the row serves all who wait, and
 * among replicas the lease in the row makes one of them act.
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
    // A trial is a token request and a call that waits for its turn, or a call and then these; obtaining a token begins it anew.
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
    // Others were accepted with this token after this call left: then it is the call that is refused, not the token.
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
    // A renewed token that is no trial has been accepted from somebody else meanwhile.
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

  /** What a call found out must not cost its answer when the database is away; the lease then lapses by itself. */
  private async tell(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn(`the outcome of a trial could not be saved: ${redact(String(error))}`);
    }
  }

  private async acquire(): Promise<Grant | NotSent> {
    // Long enough to outlive the lease of a replica that died, and then obtain a token here.
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

  /** Undefined when the stored token cannot be decrypted any more. */
  private hold(row: TokenRow): Grant | undefined {
    const token = this.store.open(row);
    if (token === null) return undefined;
    hideToken(token);
    const now = monotonicMs();
    const grant: Grant = { kind: 'token', token, generation: row.generation, grantedAt: now };
    this.held = { grant, renewAt: now + (row.renewInMs ?? 0), expiresAt: now + (row.expiresInMs ?? 0) };
    return grant;
  }

  /** The token is still valid: nobody waits, and when it fails the next call tries again. */
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

  /** `trialLeaseMs` is null outside a trial. */
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
