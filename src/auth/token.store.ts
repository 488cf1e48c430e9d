import { createHmac, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Cipher } from '../platform/crypto/cipher.js';
import { Database, type Transaction } from '../platform/database/database.js';
import type { RemoteToken } from '../platform/database/generated/client.js';
import { OUTCOME } from '../platform/database/patience.js';
import { repeatWhileUnavailable } from '../platform/database/repeat-while-unavailable.js';
import { Environment } from '../platform/env/environment.js';
import { hideToken } from '../observability/redaction/secrets.js';
import { acceptCredentials, rejectCredentials } from '../remote/shared/deployment.store.js';
import type { TokenLife } from './expires-in.rules.js';
import type { TokenRow } from './token-plan.rules.js';
import * as sql from './token.sql.js';

const CONTEXT = sql.TOKENS.context('tenant');
/** How long the holder of the lease tries to write its result while the database is unavailable. If it fails, all wait for the lease to expire. */
const WRITE_WITHIN_MS = 5_000;

export interface Token {
  readonly value: string;
  readonly tokenType: string | null;
  readonly expiresInRaw: string | null;
  readonly life: TokenLife;
}

interface RefusedTrial {
  readonly lastError: string;
  readonly failures: number;
}

/** The state of the tenant's token in GET /status, without the token itself. */
interface TokenStatus extends Readonly<
  Pick<RemoteToken, 'obtainedAt' | 'renewAt' | 'expiresAt' | 'expiresInRaw' | 'tokenType'> &
    Pick<RemoteToken, 'rejectedAt' | 'failures' | 'lastError' | 'nextAttemptAt'>
> {
  /** `expired`: the next call renews it. `on_trial`: after a refusal, one call tests a token. `rejected`: the service refuses calls. */
  readonly state: 'none' | 'valid' | 'expired' | 'on_trial' | 'rejected';
  readonly generation: number;
  readonly ageSeconds: number | null;
}

/** Stores the tenant's token in one encrypted row shared by all replicas. Events about the credentials commit in the same transaction. */
@Injectable()
export class TokenStore {
  /** Identifies the credentials with which a token was obtained, without revealing them. */
  private readonly fingerprint: string;

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    environment: Environment,
  ) {
    const { SCS_BASE_URL, SCS_API_KEY, SCS_CLIENT_ID, SCS_CLIENT_SECRET, SCS_SCOPE } = environment;
    this.fingerprint = createHmac('sha256', SCS_CLIENT_SECRET)
      .update(JSON.stringify([SCS_BASE_URL, SCS_API_KEY, SCS_CLIENT_ID, SCS_SCOPE]))
      .digest('hex')
      .slice(0, 32);
  }

  async read(): Promise<TokenRow> {
    const [row] = await this.database.query<TokenRow>(sql.FIND_TOKEN, [this.fingerprint]);
    if (row) return row;
    await this.database.prisma.remoteToken.createMany({ data: { name: 'tenant' }, skipDuplicates: true });
    return this.read();
  }

  /** Returns the decrypted token of a row, or null if the row has no token or no key decrypts it. */
  open(row: TokenRow): string | null {
    if (row.tokenCiphertext === null) return null;
    const token = this.cipher.tryDecrypt(row.tokenCiphertext, CONTEXT);
    if (token !== null) hideToken(token);
    return token;
  }

  /** Claims the lease. Returns null if another process was faster or the row has changed since it was read. */
  async claimLease(row: TokenRow, leaseMs: number): Promise<string | null> {
    const lease = randomUUID();
    const values = [lease, leaseMs, row.generation, this.fingerprint];
    return (await this.database.query(sql.CLAIM_TOKEN, values, OUTCOME)).length > 0 ? lease : null;
  }

  /** Claims the lease although the next attempt is due later. Returns null if it is leased, or a probe has claimed it in the last `everyMs`. */
  async claimProbe(row: TokenRow, leaseMs: number, everyMs: number): Promise<string | null> {
    const lease = randomUUID();
    const values = [lease, leaseMs, row.generation, everyMs];
    return (await this.database.query(sql.CLAIM_PROBE, values, OUTCOME)).length > 0 ? lease : null;
  }

  /** Saves a token and returns its generation, or null if the lease was lost. In a trial, renews the lease for `trialLeaseMs`. */
  async save(
    lease: string,
    token: Token,
    renewAfterMs: number,
    trialLeaseMs: number | null,
  ): Promise<number | null> {
    return this.write(async (tx) => {
      const [saved] = await tx.query<{ generation: number }>(sql.SAVE_TOKEN, [
        lease,
        this.cipher.encrypt(token.value, CONTEXT),
        token.tokenType,
        token.expiresInRaw,
        renewAfterMs,
        token.life.lifetimeMs,
        this.fingerprint,
        trialLeaseMs,
      ]);
      if (saved !== undefined && trialLeaseMs === null) await acceptCredentials(tx);
      return saved?.generation ?? null;
    });
  }

  /** Records a failed token request. If the service `rejected` the credentials, announces it; calls are blocked once no valid token is left. */
  async fail(lease: string, error: string, waitMs: number, rejected: boolean): Promise<void> {
    await this.write(async (tx) => {
      const values = [lease, error, waitMs, rejected, this.fingerprint];
      const recorded = await tx.query(sql.RECORD_FAILURE, values);
      if (rejected && recorded.length > 0) await rejectCredentials(tx, error);
    });
  }

  /** Records that the service refused the token of this generation. Returns false if that is already recorded or a newer token exists. */
  async suspect(generation: number): Promise<boolean> {
    return (await this.database.query(sql.SUSPECT_TOKEN, [generation, this.fingerprint])).length > 0;
  }

  async accept(lease: string): Promise<void> {
    await this.write(async (tx) => {
      const accepted = await tx.query(sql.ACCEPT_TOKEN, [lease]);
      if (accepted.length > 0) await acceptCredentials(tx);
    });
  }

  async refuse(lease: string, coolDownMs: number): Promise<void> {
    await this.write(async (tx) => {
      const [refused] = await tx.query<RefusedTrial>(sql.REFUSE_TOKEN, [lease, coolDownMs]);
      // The first refusal may concern only the call of the trial. The next trial is another call.
      if (refused !== undefined && refused.failures > 1) await rejectCredentials(tx, refused.lastError);
    });
  }

  /** Releases the lease after a call without a result. The next attempt may start after `waitMs`. */
  async release(lease: string, waitMs: number): Promise<void> {
    await this.write((tx) => tx.query(sql.RELEASE_TOKEN, [lease, waitMs]));
  }

  /** Writes under a lease. The lease ends with the write, or stays ours, so writing again after a lost COMMIT is harmless. */
  private write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return repeatWhileUnavailable(() => this.database.transaction(work, OUTCOME), WRITE_WITHIN_MS);
  }

  async getStatus(): Promise<TokenStatus> {
    const [status] = await this.database.query<TokenStatus>(sql.FIND_TOKEN_STATUS, [this.fingerprint]);
    return status!;
  }
}
