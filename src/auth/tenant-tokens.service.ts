import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { errorText } from '../platform/redaction/error-text.js';
import { Environment } from '../platform/env/environment.js';
import { stopsWithin } from '../platform/shutdown/limits.js';
import { Responses } from '../remote/responses.service.js';
import type { NotSent, OperationClass, Sent } from '../remote/outcome.rules.js';
import { Remote } from '../remote/remote.service.js';
import { type BearerTokens, isTokenAccepted, isTokenRefused, type TokenCall } from './bearer-tokens.js';
import { ALONE_MS, coolDownMs, planFailure, planToken, refusedCallMs } from './token-plan.rules.js';
import { type Claim, renewAfterMs, type TokenRow } from './token-plan.rules.js';
import { findTokenDrift, TOKEN_RESPONSE, tokenRequest } from './token.client.js';
import { LEASE_MS, TokenStore } from './token.store.js';

/** How long calls may still wait for a token when the process stops: short enough that they can be recorded as `not_sent`. */
const STOP_WITHIN_MS = stopsWithin(1_500);
/** The average pause between two checks whether another process has released the token's lease. */
const CHECK_AGAIN_MS = 50;
/** If this many token requests in a row get no token, all replicas are told. */
const NOTABLE_FAILURES = 3;
/** How long a refusal or an attempted renewal is remembered, so that not every call queries the database. */
const REMEMBER_MS = 1_000;

/** The results of a probe of the credentials: see CredentialsProbeView. */
export const PROBE_OUTCOMES = ['valid', 'token_issued', 'refused', 'no_token', 'too_soon'] as const;
type ProbeOutcome = (typeof PROBE_OUTCOMES)[number];

/** A token, with times by `performance.now()`. */
interface Token {
  readonly kind: 'token';
  readonly value: string;
  readonly generation: number;
  readonly expiresAt: number;
  /** The classes of operations that are refused alone: a 401 to them says nothing about the token. */
  refusedAlone: Set<OperationClass>;
  renewAt: number;
}

/** A token to send a call with, the reason why there is none, or the response to the call if the call was a trial. */
type Acquired = Token | Sent;

/** A call that waits for a token, and when it was first sent. */
type WaitingCall = TokenCall & { readonly sentAt?: number };
/** No call waits for a renewal or a probe. */
type Purpose = WaitingCall | 'renewal' | 'probe';

/** `waitMs`: how long all replicas wait before the next attempt. */
interface Renewal {
  readonly acquired: Acquired | null;
  readonly waitMs: number;
}

/*
 * The tenant's token.
 *
 * Every call to the remote service needs one token, and the interface does not say whether a second token ends the first. So all replicas
 * use one: the row `tenant` of remote_tokens. A call that needs a token reads memory, then the row; only then is one requested.
 *
 * States of the row, and who leaves them
 * - no token, or an expired one: the next call claims the lease and requests a token.
 * - in use: every replica sends with it. After 80 to 90 % of its lifetime, one replica renews it in the background; calls do not wait.
 * - on trial (`rejected_at` is set, `failures` is 0): a call was refused with a 401, and its replica has requested another token. One call
 *   of one replica tests the stored token or, if it was refused, a new one. All other calls wait for the result.
 * - rejected (`rejected_at` is set, `failures` > 0): a fresh token or the credentials were refused. Calls end as `credentials_rejected`
 *   without a request until `next_attempt_at`; then one call is the next trial. A class whose trial was refused leaves it to others for 3 s.
 * - in use, with `refused_operations`: trials by calls of these classes were refused, and one by another call was accepted. A 401 to them
 *   blocks nobody, and the token is renewed every 5 minutes while they get one. Once a call of a class is accepted, it leaves the list.
 * - of other credentials: a replica with other settings wrote it. It is not used, and the next call of ours replaces it.
 *
 * Who writes
 * - Only the process with the lease (`lease_token`, `lease_until`, 5 s, renewed) writes the token and its failures. Each of these
 *   statements compares `lease_token`, so a process that was suspended for longer changes nothing.
 * - `planToken` decides from the row and the memory of the process: use, claim, wait for another process, or refuse.
 * - `inTurn` lets one call of a process do the next step. The others find its result in memory, so a thousand calls read the row once.
 *
 * What a crash leaves
 * - Before the request: the lease, for at most 5 s. Another process then claims it.
 * - After the request, before the write: a token that nobody knows. The next process requests another.
 * - After the write: a token that all replicas use. The event about the credentials is in the same transaction.
 * - During a trial: the row stays on trial, and the next call is the trial.
 * If the database is unreachable, a token in memory is used until it expires; without one, calls end as `token_unavailable`, not sent.
 *
 * A refused call
 * - A 401 for a token that another call used successfully since concerns only this call: it is sent once more with the same token.
 * - Otherwise the generation of the token is noted as refused, and the call is sent once more with a newer one. It is sent a third time only
 *   if that one was stored on trial, is older than 5 s and is refused, too.
 * - The first refusal of a fresh token blocks other classes for 1 s and is not announced, because it may concern one call. The second is.
 *
 * At night: `SELECT * FROM admin.remote_tokens` shows the state, the failures and the next attempt. `pv_onboarding_remote_calls_total` by
 * outcome shows `credentials_rejected`. `POST /api/v1/status/credentials/probe` makes an attempt now.
 */
/** Sends calls with the tenant's token (interface sections 4.1, 5), from memory or else from the database row that all replicas share. */
@Injectable()
export class TenantTokens implements BearerTokens, OnModuleDestroy {
  private readonly logger = new Logger('Auth');
  private readonly stop = new AbortController();
  private cached: Token | undefined;
  private readonly refusals = new Map<
    OperationClass,
    { readonly outcome: NotSent; readonly until: number }
  >();
  private rejectedUntil = -Infinity;
  private refusedGeneration = -1;
  private acceptedAt = -Infinity;
  /** A trial showed that single calls are refused: until then, a token accepted up to REMEMBER_MS before such a call stays in use. */
  private oddUntil = -Infinity;
  private looksAt = -Infinity;
  private lastTurn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: TokenStore,
    private readonly remote: Remote,
    private readonly responses: Responses,
    private readonly environment: Environment,
  ) {}

  onModuleDestroy(): void {
    setTimeout(() => this.stop.abort(), STOP_WITHIN_MS).unref();
  }

  async send(call: TokenCall): Promise<Sent> {
    const token = await this.acquire(call);
    if (token.kind !== 'token') return token;
    const sentAt = performance.now();
    const sent = await this.sendWith(token.value, call);
    if (!isTokenRefused(sent, call)) return sent;
    if (token.refusedAlone.has(call.operation)) {
      const newer = await this.newerThan(token);
      return newer === undefined ? sent : this.sendWith(newer.value, call);
    }
    if (token === this.cached) {
      // A call that was sent later was accepted, so the token is valid. Sends this call once more with the same token.
      const earlierMs = sentAt < this.oddUntil ? REMEMBER_MS : 0;
      if (this.acceptedAt > sentAt - earlierMs) return this.sendWith(token.value, call);
      this.cached = undefined;
      this.logger.warn(`the remote service refused the token of generation ${token.generation}`);
    }
    this.refusedGeneration = Math.max(this.refusedGeneration, token.generation);
    const other = await this.acquire({ ...call, sentAt });
    return other.kind === 'token' ? this.sendWith(other.value, call) : other;
  }

  /** Looks at most once a second whether a newer token is stored, or may be requested for a class that is refused alone. */
  private async newerThan({ generation }: Token): Promise<Token | undefined> {
    const now = performance.now();
    if (now >= this.looksAt) {
      this.looksAt = now + REMEMBER_MS;
      await this.inTurn(() => this.step('renewal'));
    }
    return this.cached !== undefined && this.cached.generation > generation ? this.cached : undefined;
  }

  /** Requests a token even if the next attempt is not due yet. All replicas together do this at most every 5 s. */
  async probe(): Promise<ProbeOutcome> {
    const { state, failures } = await this.store.getStatus();
    if (state === 'valid' && failures === 0) return 'valid';
    if (!(await this.store.claimProbe())) return 'too_soon';
    this.rejectedUntil = -Infinity;
    const obtained = await this.inTurn(() => this.step('probe'));
    if (obtained?.kind === 'not_sent')
      return obtained.reason === 'credentials_rejected' ? 'refused' : 'no_token';
    return obtained === null ? 'too_soon' : 'token_issued';
  }

  private async sendWith(token: string, call: TokenCall): Promise<Sent> {
    const sentAt = performance.now();
    const sent = await call.send(token);
    if (!isTokenAccepted(sent)) return sent;
    this.acceptedAt = Math.max(this.acceptedAt, sentAt);
    if (!this.cached?.refusedAlone.delete(call.operation)) return sent;
    this.oddUntil = sentAt + ALONE_MS;
    void this.store.forgetRefusal(call.operation).catch(this.warn);
    return sent;
  }

  private async acquire(call: WaitingCall): Promise<Acquired> {
    const { cached } = this;
    const { operation } = call;
    const now = performance.now();
    if (cached && now >= cached.renewAt) {
      cached.renewAt = now + REMEMBER_MS;
      void this.inTurn(() => this.step('renewal')).catch(this.warn);
    }
    // Waits long enough for the lease of a dead replica to expire and for this process to obtain a token.
    const until = now + 2 * this.environment.SCS_TIMEOUT_MS + LEASE_MS;
    const acquire = async () => {
      while (!this.stop.signal.aborted) {
        const acquired = this.known(operation) ?? (await this.step(call));
        if (acquired !== null) return acquired;
        if (performance.now() > until) return this.refuse('token_unavailable', REMEMBER_MS, operation);
      }
      return this.refuse('stopping', 0);
    };
    return this.known(operation) ?? this.inTurn(acquire);
  }

  private known(operation: OperationClass): Acquired | undefined {
    const { cached } = this;
    const now = performance.now();
    if (cached && now < cached.expiresAt) return cached;
    const refusal = this.refusals.get(operation);
    return refusal && now < refusal.until ? refusal.outcome : undefined;
  }

  private refuse(reason: NotSent['reason'], retryAfterMs: number, operation?: OperationClass): NotSent {
    const now = performance.now();
    const outcome = { kind: 'not_sent', reason, retryAfterMs } as const;
    const until = now + Math.min(retryAfterMs, REMEMBER_MS);
    if (operation !== undefined) this.refusals.set(operation, { outcome, until });
    if (reason === 'credentials_rejected') this.rejectedUntil = now + retryAfterMs;
    return outcome;
  }

  /** Runs `work` after all earlier work, so that one call reads the row and the others find its result in memory. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.lastTurn.then(work);
    this.lastTurn = turn.catch(() => {});
    return turn;
  }

  /**
   * Does the next step towards a token. Returns null if the row must be read again. For a renewal, renews the token if that is due. Never
   * throws: a call that gets no token certainly was not sent, whatever the database says.
   */
  private async step(purpose: Purpose): Promise<Acquired | null> {
    const operation = typeof purpose === 'string' ? undefined : purpose.operation;
    try {
      const row = await this.store.read();
      const plan = this.plan(row, purpose);
      switch (plan.kind) {
        case 'use':
          return this.keep(row);
        case 'claim':
          return await this.claim(purpose);
        case 'wait':
          await sleep(CHECK_AGAIN_MS * (0.5 + Math.random()));
          return null;
        case 'refuse':
          return this.refuse(plan.reason, plan.retryAfterMs, operation);
      }
    } catch (error) {
      this.warn(error);
      return this.refuse('token_unavailable', REMEMBER_MS, operation);
    }
  }

  private plan(row: TokenRow, purpose: Purpose) {
    const rejectedForMs = this.rejectedUntil - performance.now();
    const forWhat = typeof purpose === 'string' ? purpose : purpose.operation;
    return planToken(row, { refusedGeneration: this.refusedGeneration, rejectedForMs, purpose: forWhat });
  }

  private keep(row: TokenRow): Token {
    const { token, generation, refusedOperations } = row;
    const refusedAlone = new Set(refusedOperations);
    if (this.cached?.generation === generation) return Object.assign(this.cached, { refusedAlone });
    const after = (at: Date) => performance.now() + at.getTime() - row.now.getTime();
    const [renewAt, expiresAt] = [after(row.renewAt!), after(row.expiresAt!)];
    const kept: Token = { kind: 'token', value: token!, generation, refusedAlone, renewAt, expiresAt };
    if (row.rejectedAt === null) this.cached = kept;
    return kept;
  }

  /** Claims the lease. Then obtains a token, or tests a token with the call. Returns null if another process was faster. */
  private async claim(purpose: Purpose): Promise<Acquired | null> {
    let acquired: Acquired | null = null;
    await this.store.leases.runUnderLease('tenant', this.stop.signal, async ({ token: lease }) => {
      const row = { ...(await this.store.read()), isLeased: false };
      const plan = this.plan(row, purpose);
      if (plan.kind !== 'claim') return 0;
      const isTested = plan.isTrial && typeof purpose !== 'string';
      const renewal = await (isTested ? this.test(row, plan, lease, purpose) : this.obtain(row, lease, plan));
      acquired = renewal.acquired;
      return renewal.waitMs;
    });
    return acquired;
  }

  /** Tests the stored token or a new one with the call, for all replicas. Throws only while the call has had no effect. */
  private async test(row: TokenRow, plan: Claim, lease: string, call: WaitingCall): Promise<Renewal> {
    let sent = plan.withStored ? await this.sendWith(row.token!, call) : null;
    if (sent === null || (plan.mayReplace && isTokenRefused(sent, call))) {
      const renewal = await this.obtain(row, lease, plan);
      if (renewal.acquired?.kind !== 'token') return renewal;
      sent = await this.sendWith(renewal.acquired.value, call);
    }
    const isAccepted = isTokenAccepted(sent);
    // A call that was sent later than this one was accepted meanwhile, so a refusal concerns only this call.
    const isAlone = !isAccepted && row.rejectedAt === null && this.acceptedAt > (call.sentAt ?? Infinity);
    // A call that could not be sent again will be repeated by its caller, and may be refused alone, too.
    if (isAlone || sent.kind === 'not_sent' || row.refusedOperations.includes(call.operation))
      this.oddUntil = performance.now() + ALONE_MS;
    if (isAccepted || isAlone) {
      await this.store.accept(lease, call.operation).catch(this.warn);
      return { acquired: sent, waitMs: 0 };
    }
    if (!isTokenRefused(sent, call)) return { acquired: sent, waitMs: REMEMBER_MS };
    const failures = row.rejectedAt === null ? 0 : row.failures;
    const error = 'the service refused a fresh token';
    // The first refusal may concern only this call, so it is not announced. Another call is the next trial.
    const failure = { error, isRejected: true, isTrial: true, isAnnounced: failures > 0 };
    await this.store.fail(lease, { ...failure, operation: call.operation }).catch(this.warn);
    return this.fail('credentials_rejected', coolDownMs(failures + 1), refusedCallMs(failures + 1));
  }

  private async obtain(row: TokenRow, lease: string, { isTrial }: Claim): Promise<Renewal> {
    const { signal } = this.stop;
    const sent = await this.remote.send({ ...tokenRequest(this.environment), signal });
    const outcome = this.responses.interpret('token', sent, TOKEN_RESPONSE);
    if (outcome.kind === 'done') {
      this.responses.reportDrift('token', findTokenDrift(outcome.value));
      const renewInMs = renewAfterMs(outcome.value.life.lifetimeMs, Math.random());
      const saved = await this.store.save(lease, outcome.value, renewInMs, isTrial);
      return { acquired: saved && this.keep(saved), waitMs: 0 };
    }
    if (signal.aborted || (outcome.kind === 'not_sent' && outcome.reason === 'stopping'))
      return this.fail('stopping', 0);
    const { error, waitMs, isRejected } = planFailure(outcome, row.failures, Math.random());
    await this.store.fail(lease, { error, isRejected, isTrial, isAnnounced: isRejected });
    // A gateway may respond with a 404, which the breaker counts as a response of the service.
    if (outcome.kind === 'rejected') this.remote.gates.token.noteFault(error);
    if (!isRejected && row.failures + 1 >= NOTABLE_FAILURES) this.remote.peers.announce('token', error);
    this.logger[row.failures === 0 ? 'warn' : 'debug'](`${error}; next attempt in ${Math.round(waitMs)} ms`);
    return this.fail(isRejected ? 'credentials_rejected' : 'token_unavailable', waitMs);
  }

  private fail(reason: NotSent['reason'], waitMs: number, callWaitMs = waitMs): Renewal {
    return { acquired: this.refuse(reason, callWaitMs), waitMs };
  }

  /** Logs that the token could not be read or stored. It is renewed later, or another call is the trial. */
  private readonly warn = (error: unknown): void =>
    this.logger.warn(`the state of the token could not be read or stored: ${errorText(error)}`);
}
