import { createHmac, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Cipher, DecryptionError } from '../platform/crypto/cipher.js';
import { Database } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
import { acceptCredentials, rejectCredentials } from '../remote/shared/operations.store.js';
import { tokenContext } from './token-at-rest.sql.js';
import type { TokenRow } from './token-plan.js';
import type { Token } from './token.client.js';
import { ACCEPT, CLAIM, CREATE, FAIL, FIND, REFUSE, RELEASE, SAVE, STATUS, SUSPECT } from './token.sql.js';

const CONTEXT = tokenContext('tenant');

export interface TokenStatusRow {
  readonly present: boolean;
  readonly generation: number;
  readonly tokenType: string | null;
  readonly expiresInRaw: string | null;
  readonly obtainedAt: Date | null;
  readonly renewAt: Date | null;
  readonly expiresAt: Date | null;
  readonly expired: boolean;
  readonly rejectedAt: Date | null;
  readonly failures: number;
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
  readonly leased: boolean;
}

/**
 * The tenant's token, one encrypted row shared by all replicas; all its times are the database's. Changes in the acceptance of the
 * credentials are announced in the same transaction: see rejectCredentials.
 */
@Injectable()
export class TokenStore {
  /** Distinguishes tokens of other credentials without revealing ours. */
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
    const [row] = await this.database.query<TokenRow>(FIND, [this.fingerprint]);
    if (row) return row;
    await this.database.query(CREATE);
    return this.read();
  }

  /** Returns the token of a row, or null if no key decrypts it: then a new token must be obtained. */
  open(row: TokenRow): string | null {
    if (row.tokenCiphertext === null) return null;
    try {
      return this.cipher.decrypt(row.tokenCiphertext, CONTEXT);
    } catch (error) {
      if (error instanceof DecryptionError) return null;
      throw error;
    }
  }

  /** Claims the lease; returns null if another process was faster or the row has changed since it was read. */
  async claimLease(row: TokenRow, leaseMs: number): Promise<string | null> {
    const lease = randomUUID();
    const claimed = await this.database.query(CLAIM, [lease, leaseMs, row.generation, this.fingerprint]);
    return claimed.length > 0 ? lease : null;
  }

  /** Saves a token and returns its generation, or null if the lease was lost. On trial, the lease is renewed for `trialLeaseMs`. */
  async save(
    lease: string,
    token: Token,
    renewAfterMs: number,
    trialLeaseMs: number | null,
  ): Promise<number | null> {
    return this.database.transaction(async (tx) => {
      const [saved] = await tx.query<{ generation: number }>(SAVE, [
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

  /** Records that no token could be obtained. `rejected`: because of the credentials, which counts only once no valid token is left. */
  async fail(lease: string, error: string, waitMs: number, rejected: boolean): Promise<void> {
    await this.database.transaction(async (tx) => {
      const values = [lease, error, waitMs, rejected, this.fingerprint];
      const [failed] = await tx.query<{ rejected: boolean }>(FAIL, values);
      if (failed?.rejected === true) await rejectCredentials(tx, error);
    });
  }

  /**
   * Records that the service refused the token of this generation. Does nothing if there is a newer token or the refusal is already
   * recorded.
   */
  async suspect(generation: number): Promise<void> {
    await this.database.query(SUSPECT, [generation, this.fingerprint]);
  }

  async accept(lease: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const accepted = await tx.query(ACCEPT, [lease]);
      if (accepted.length > 0) await acceptCredentials(tx);
    });
  }

  async refuse(lease: string, coolDownMs: number): Promise<void> {
    await this.database.transaction(async (tx) => {
      const [refused] = await tx.query<{ lastError: string }>(REFUSE, [lease, coolDownMs]);
      if (refused !== undefined) await rejectCredentials(tx, refused.lastError);
    });
  }

  /** Releases the lease of a call without a result; the next attempt may start after `waitMs`. */
  async release(lease: string, waitMs: number): Promise<void> {
    await this.database.query(RELEASE, [lease, waitMs]);
  }

  async findStatus(): Promise<TokenStatusRow | null> {
    const [row] = await this.database.query<TokenStatusRow>(STATUS, [this.fingerprint]);
    return row ?? null;
  }
}
