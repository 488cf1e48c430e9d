import { createHmac, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { hideToken } from '../observability/redaction/secrets.js';
import { Cipher } from '../platform/crypto/cipher.js';
import { encryptedColumn } from '../platform/crypto/re-encryption.store.js';
import { Database, type Sql, type Transaction } from '../platform/database/database.js';
import { OUTCOME } from '../platform/database/connection/patience.js';
import { repeatWhileUnavailable } from '../platform/database/repeat-while-unavailable.js';
import { msFromNow } from '../platform/database/timestamps.js';
import { Environment } from '../platform/env/environment.js';
import { acceptCredentials, rejectCredentials } from '../remote/shared/operations.store.js';
import type { TokenFailure, TokenRow } from './token-plan.rules.js';
import type { Token } from './token.client.js';

export const TOKENS = encryptedColumn('remote_tokens', 'token_ciphertext', { name: 'name', type: 'text' });
const CONTEXT = TOKENS.context('tenant');
/** How long the holder of the lease tries to write its result while the database is unavailable. If it fails, all wait for the lease to expire. */
const WRITE_WITHIN_MS = 5_000;

const IS_LEASED = `coalesce(t.lease_until > clock_timestamp(), false)`;

// Of the columns of a row of other credentials, returns only the generation and the lease.
const FIND_TOKEN = `
  SELECT clock_timestamp() AS "now", t.generation::float8 AS "generation", ${IS_LEASED} AS "isLeased", o.name IS NOT NULL AS "isOurs",
    o.token_ciphertext AS "ciphertext", o.token_type AS "tokenType", o.expires_in_raw AS "expiresInRaw",
    o.obtained_at AS "obtainedAt", o.renew_at AS "renewAt", o.expires_at AS "expiresAt", o.rejected_at AS "rejectedAt",
    coalesce(o.failures, 0) AS "failures", o.last_error AS "lastError", o.next_attempt_at AS "nextAttemptAt"
  FROM remote_tokens AS t LEFT JOIN remote_tokens AS o ON o.name = t.name AND o.credentials_fingerprint = $1
  WHERE t.name = 'tenant'`;

// Of several concurrent claims, only one succeeds. The other claims find the row leased, or find a new generation after a renewal.
// A trial ($5) blocks other calls. After a failure, only processes with the same credentials must wait until next_attempt_at.
const CLAIM_TOKEN = `
  UPDATE remote_tokens AS t SET lease_token = $1, lease_until = ${msFromNow('$2')},
    failures = CASE WHEN $5 AND rejected_at IS NULL THEN 0 ELSE failures END,
    rejected_at = CASE WHEN $5::boolean THEN coalesce(rejected_at, clock_timestamp()) ELSE rejected_at END
  WHERE name = 'tenant' AND generation = $3 AND NOT ${IS_LEASED}
    AND (next_attempt_at IS NULL OR next_attempt_at <= clock_timestamp() OR credentials_fingerprint IS DISTINCT FROM $4)
  RETURNING 1`;

const CLAIM_PROBE = `
  UPDATE remote_tokens AS t SET next_attempt_at = NULL, probed_at = clock_timestamp()
  WHERE name = 'tenant' AND NOT ${IS_LEASED} AND coalesce(probed_at < clock_timestamp() - interval '5 seconds', true)
  RETURNING 1`;

const SAVE_TOKEN = `
  UPDATE remote_tokens SET generation = generation + 1, token_ciphertext = $2, token_type = $3, expires_in_raw = $4,
    obtained_at = clock_timestamp(), renew_at = ${msFromNow('$5')}, expires_at = ${msFromNow('$6')},
    credentials_fingerprint = $7, last_error = NULL, next_attempt_at = NULL
  WHERE name = 'tenant' AND lease_token = $1
  RETURNING 1`;

// rejected_at blocks calls. Rejected credentials ($4) do not set it while the stored token is valid: calls continue with that token.
// While rejected_at is set, `failures` counts only rejections. Other failures of the token endpoint are not counted.
const RECORD_FAILURE = `
  UPDATE remote_tokens SET failures = failures + CASE WHEN rejected_at IS NOT NULL AND NOT $4::boolean THEN 0 ELSE 1 END,
    last_error = $2, next_attempt_at = ${msFromNow('$3')},
    rejected_at = CASE
      WHEN rejected_at IS NOT NULL AND credentials_fingerprint = $5 THEN rejected_at
      WHEN $4 AND NOT (credentials_fingerprint IS NOT DISTINCT FROM $5
        AND token_ciphertext IS NOT NULL AND expires_at > clock_timestamp()) THEN clock_timestamp()
    END,
    token_ciphertext = CASE WHEN credentials_fingerprint = $5 THEN token_ciphertext END,
    credentials_fingerprint = $5, lease_token = NULL, lease_until = NULL
  WHERE name = 'tenant' AND lease_token = $1
  RETURNING 1`;

const RELEASE_TOKEN = `
  UPDATE remote_tokens SET next_attempt_at = ${msFromNow('$2')}, lease_token = NULL, lease_until = NULL
  WHERE name = 'tenant' AND lease_token = $1`;

interface StoredToken extends TokenRow {
  readonly tokenType: string | null;
  readonly expiresInRaw: string | null;
  readonly lastError: string | null;
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

  /** Returns the row. Its token is null if no key decrypts it. */
  async read(): Promise<StoredToken> {
    const stored = await this.find(this.database);
    if (stored !== null) return stored;
    await this.database.prisma.remoteToken.createMany({ data: { name: 'tenant' }, skipDuplicates: true });
    return this.read();
  }

  private async find(sql: Sql): Promise<StoredToken | null> {
    type Row = Omit<StoredToken, 'token'> & { readonly ciphertext: Uint8Array | null };
    const [row] = await sql.query<Row>(FIND_TOKEN, [this.fingerprint]);
    if (row === undefined) return null;
    const { ciphertext, ...rest } = row;
    const token = ciphertext && this.cipher.tryDecrypt(ciphertext, CONTEXT);
    if (token !== null) hideToken(token);
    return { ...rest, token };
  }

  /** Claims the lease. Returns null if another process was faster or the row has changed since it was read. */
  async claim(row: TokenRow, leaseMs: number, isTrial: boolean): Promise<string | null> {
    const lease = randomUUID();
    const values = [lease, leaseMs, row.generation, this.fingerprint, isTrial];
    return (await this.database.query(CLAIM_TOKEN, values, OUTCOME)).length > 0 ? lease : null;
  }

  /** Makes the next attempt due. Returns false if the row is leased, or if there was a probe within the last 5 s. */
  async claimProbe(): Promise<boolean> {
    return (await this.database.query(CLAIM_PROBE, [], OUTCOME)).length > 0;
  }

  /** Saves a token. Returns null if the lease was lost. The lease ends, unless a call must test the token first. */
  async save(lease: string, token: Token, renewInMs: number, isTrial: boolean): Promise<TokenRow | null> {
    const { value, tokenType, expiresInRaw, life } = token;
    return this.write(async (tx) => {
      const ciphertext = this.cipher.encrypt(value, CONTEXT);
      const values = [
        lease,
        ciphertext,
        tokenType,
        expiresInRaw,
        renewInMs,
        life.lifetimeMs,
        this.fingerprint,
      ];
      if ((await tx.query(SAVE_TOKEN, values)).length === 0) return null;
      if (!isTrial) await acceptToken(tx, lease);
      return this.find(tx);
    });
  }

  /** Records a failure. After a rejection of the credentials, calls are blocked once no valid token is left. */
  async fail(lease: string, { error, waitMs, isRejected, isAnnounced }: TokenFailure): Promise<void> {
    await this.write(async (tx) => {
      const recorded = await tx.query(RECORD_FAILURE, [lease, error, waitMs, isRejected, this.fingerprint]);
      if (isAnnounced && recorded.length > 0) await rejectCredentials(tx, error);
    });
  }

  async accept(lease: string): Promise<void> {
    await this.write((tx) => acceptToken(tx, lease));
  }

  /** Releases the lease after a call without a result. The next attempt may start after `waitMs`. */
  async release(lease: string, waitMs: number): Promise<void> {
    await this.write((tx) => tx.query(RELEASE_TOKEN, [lease, waitMs]));
  }

  /** Writes under a lease. The lease ends with the write, or stays ours, so writing again after a lost COMMIT is harmless. */
  private write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return repeatWhileUnavailable(() => this.database.transaction(work, OUTCOME), WRITE_WITHIN_MS);
  }

  /** Returns the state of the token for GET /status, without the token itself. */
  async getStatus() {
    const { token, now, isOurs: _, isLeased, ...status } = await this.read();
    const { obtainedAt, expiresAt, rejectedAt, failures } = status;
    const ageSeconds = obtainedAt && Math.round((now.getTime() - obtainedAt.getTime()) / 1_000);
    const held = token === null ? 'none' : expiresAt! > now ? 'valid' : 'expired';
    const blocked = failures > 0 && !isLeased ? 'rejected' : 'on_trial';
    return { state: rejectedAt === null ? held : blocked, ageSeconds, ...status } as const;
  }
}

/** Ends the lease, and the block after a refusal. */
async function acceptToken(tx: Transaction, lease: string): Promise<void> {
  const data = { rejectedAt: null, failures: 0, lastError: null, nextAttemptAt: null };
  const where = { leaseToken: lease };
  const accepted = await tx.prisma.remoteToken.updateMany({
    where,
    data: { ...data, leaseToken: null, leaseUntil: null },
  });
  if (accepted.count > 0) await acceptCredentials(tx);
}
