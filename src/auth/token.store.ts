import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { actingKey, mayAct, requireActing } from '../access/acting-caller.js';
import { hideToken } from '../platform/redaction/secrets.js';
import { Cipher } from '../platform/crypto/cipher.js';
import { encryptedColumn } from '../platform/crypto/re-encryption.store.js';
import { Database, type Sql, type Statement, type Transaction } from '../platform/database/database.js';
import { OUTCOME } from '../platform/database/connection/patience.js';
import { Leases } from '../platform/database/lease.js';
import type { LeaseStatements } from '../platform/database/lease.sql.js';
import { msFromNow } from '../platform/database/timestamps.js';
import { Environment } from '../platform/env/environment.js';
import { acceptCredentials, rejectCredentials } from '../remote/shared/operations.store.js';
import type { OperationClass } from '../remote/outcome.rules.js';
import type { TokenRow } from './token-plan.rules.js';
import type { Token } from './token.client.js';

export const TOKENS = encryptedColumn('remote_tokens', 'token_ciphertext', { name: 'name', type: 'text' });
const CONTEXT = TOKENS.context('tenant');
/** The other replicas wait this long for a replica that died while it had the lease. */
export const LEASE_MS = 5_000;
/** How long the process with the lease repeats a write that fails. All replicas wait for it; a lost token only has to be requested again. */
const WRITE_WITHIN_MS = 5_000;

const IS_LEASED = `coalesce(t.lease_until > clock_timestamp(), false)`;

// If the row belongs to other credentials, returns only its generation and its lease.
const FIND_TOKEN = `
  SELECT clock_timestamp() AS "now", t.generation::float8 AS "generation", ${IS_LEASED} AS "isLeased", o.name IS NOT NULL AS "isOurs",
    o.token_ciphertext AS "ciphertext", o.token_type AS "tokenType", o.expires_in_raw AS "expiresInRaw",
    o.obtained_at AS "obtainedAt", o.renew_at AS "renewAt", o.expires_at AS "expiresAt", o.rejected_at AS "rejectedAt",
    coalesce(o.failures, 0) AS "failures", o.last_error AS "lastError", o.next_attempt_at AS "nextAttemptAt",
    coalesce(o.refused_operations, '{}') AS "refusedOperations"
  FROM remote_tokens AS t LEFT JOIN remote_tokens AS o ON o.name = t.name AND o.credentials_fingerprint = $1
  WHERE t.name = 'tenant'`;

const lease = (name: string, set: string, where: string): Statement => ({
  name: `remote_tokens.${name}`,
  text: `UPDATE remote_tokens AS t SET ${set} WHERE name = $1 AND ${where} RETURNING name`,
});

// The claim ignores next_attempt_at, which does not apply to processes with other credentials.
const TOKEN_LEASE: LeaseStatements = {
  isClaimable: `NOT ${IS_LEASED}`,
  claim: lease('claim_lease', `lease_token = $2, lease_until = ${msFromNow('$3')}`, `NOT ${IS_LEASED}`),
  renew: lease('renew_lease', `lease_until = ${msFromNow('$3')}`, 'lease_token = $2'),
  release: lease(
    'release_lease',
    `lease_token = NULL, lease_until = NULL,
      next_attempt_at = CASE WHEN $3::float8 > 0 THEN ${msFromNow('$3')} ELSE next_attempt_at END`,
    'lease_token = $2',
  ),
};

const CLAIM_PROBE = `
  UPDATE remote_tokens AS t SET next_attempt_at = NULL, probed_at = clock_timestamp()
  WHERE name = 'tenant' AND NOT ${IS_LEASED} AND coalesce(probed_at < clock_timestamp() - interval '5 seconds', true)
    AND ${mayAct('$1')}
  RETURNING 1`;

// If a call must test the token first ($8), calls stay blocked or become blocked.
const SAVE_TOKEN = `
  UPDATE remote_tokens SET generation = generation + 1, token_ciphertext = $2, token_type = $3, expires_in_raw = $4,
    obtained_at = clock_timestamp(), renew_at = ${msFromNow('$5')}, expires_at = ${msFromNow('$6')},
    credentials_fingerprint = $7, last_error = NULL, next_attempt_at = NULL,
    failures = CASE WHEN $8::boolean AND rejected_at IS NOT NULL THEN failures ELSE 0 END,
    rejected_at = CASE WHEN $8 THEN coalesce(rejected_at, clock_timestamp()) END,
    refused_operations = CASE WHEN credentials_fingerprint = $7 THEN refused_operations ELSE '{}' END
  WHERE name = 'tenant' AND lease_token = $1
  RETURNING 1`;

// rejected_at blocks calls. A failed trial ($5) sets it. Rejected credentials ($3) set it only if no valid token is stored. In a trial,
// `failures` counts only rejections, not other failures of the token endpoint.
const RECORD_FAILURE = `
  UPDATE remote_tokens SET last_error = $2,
    failures = CASE WHEN $5::boolean AND rejected_at IS NULL THEN 0 ELSE failures END
      + CASE WHEN $5 AND NOT $3::boolean THEN 0 ELSE 1 END,
    rejected_at = CASE
      WHEN $5 THEN coalesce(rejected_at, clock_timestamp())
      WHEN $3 AND NOT (credentials_fingerprint IS NOT DISTINCT FROM $4
        AND token_ciphertext IS NOT NULL AND expires_at > clock_timestamp()) THEN clock_timestamp()
    END,
    token_ciphertext = CASE WHEN credentials_fingerprint = $4 THEN token_ciphertext END,
    refused_operations = array(
      SELECT o FROM unnest(refused_operations) AS o WHERE credentials_fingerprint = $4 AND o <> ALL($6::text[])) || $6,
    credentials_fingerprint = $4
  WHERE name = 'tenant' AND lease_token = $1
  RETURNING 1`;

const FORGET_REFUSAL = `
  UPDATE remote_tokens SET refused_operations = array_remove(refused_operations, $2)
  WHERE name = 'tenant' AND credentials_fingerprint = $1`;

const ACCEPT_TOKEN = `
  UPDATE remote_tokens SET rejected_at = NULL, failures = 0, last_error = NULL, next_attempt_at = NULL,
    refused_operations = array_remove(refused_operations, $2)
  WHERE name = 'tenant' AND lease_token = $1
  RETURNING 1`;

interface StoredToken extends TokenRow {
  readonly tokenType: string | null;
  readonly expiresInRaw: string | null;
  readonly lastError: string | null;
}

interface TokenFailure {
  readonly error: string;
  readonly isRejected: boolean;
  readonly isTrial: boolean;
  readonly isAnnounced: boolean;
  /** The class of the refused trial. */
  readonly operation?: OperationClass;
}

/** Stores the tenant's token in one encrypted row shared by all replicas. Events about the credentials commit in the same transaction. */
@Injectable()
export class TokenStore {
  /** The lease of the row `tenant`: one process at a time obtains a token, or tests it for all replicas. */
  readonly leases = new Leases(this.database, TOKEN_LEASE, { leaseMs: LEASE_MS });
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
  async read(sql: Sql = this.database): Promise<StoredToken> {
    type Row = Omit<StoredToken, 'token'> & { readonly ciphertext: Uint8Array | null };
    const [row] = await sql.query<Row>(FIND_TOKEN, [this.fingerprint]);
    const { ciphertext, ...rest } = row!;
    const token = ciphertext && this.cipher.tryDecrypt(ciphertext, CONTEXT);
    if (token !== null) hideToken(token);
    return { ...rest, token };
  }

  /**
   * Makes the next token request due. Returns false if the row is leased, or if there was a probe within the last 5 s. Throws Problem
   * unauthenticated if the caller of the request may no longer act.
   */
  async claimProbe(): Promise<boolean> {
    if ((await this.database.query(CLAIM_PROBE, [actingKey()], OUTCOME)).length > 0) return true;
    await requireActing(this.database);
    return false;
  }

  /** Saves a token. Returns null if the lease was lost. If `isTrial`, calls stay blocked until one call has tested the token. */
  async save(lease: string, token: Token, renewInMs: number, isTrial: boolean): Promise<TokenRow | null> {
    const ciphertext = this.cipher.encrypt(token.value, CONTEXT);
    const values = [lease, ciphertext, token.tokenType, token.expiresInRaw, renewInMs];
    return this.write(async (tx) => {
      const saved = await tx.query(SAVE_TOKEN, [...values, token.life.lifetimeMs, this.fingerprint, isTrial]);
      if (saved.length === 0) return null;
      if (!isTrial) await acceptCredentials(tx);
      return this.read(tx);
    });
  }

  /** Records a failure. After a rejection of the credentials, calls are blocked once no valid token is left. */
  async fail(lease: string, failure: TokenFailure): Promise<void> {
    const { error, isRejected, isTrial, isAnnounced, operation } = failure;
    await this.write(async (tx) => {
      const refused = operation === undefined ? [] : [operation];
      const values = [lease, error, isRejected, this.fingerprint, isTrial, refused];
      const recorded = await tx.query(RECORD_FAILURE, values);
      if (isAnnounced && recorded.length > 0) await rejectCredentials(tx, error);
    });
  }

  /** Unblocks calls after a successful trial by a call of a class. */
  async accept(lease: string, operation: OperationClass): Promise<void> {
    await this.write(async (tx) => {
      if ((await tx.query(ACCEPT_TOKEN, [lease, operation])).length > 0) await acceptCredentials(tx);
    });
  }

  /** Forgets that calls of a class were refused, because one was accepted. */
  async forgetRefusal(operation: OperationClass): Promise<void> {
    await this.database.query(FORGET_REFUSAL, [this.fingerprint, operation]);
  }

  /** Writes under the lease, and does not release it. So a retry after a lost COMMIT is harmless. */
  private write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const write = () => this.database.transaction(work, OUTCOME);
    return this.database.outcomes.repeat(write, WRITE_WITHIN_MS);
  }

  /** Returns the state of the token for GET /status, without the token itself. */
  async getStatus() {
    const { token, now, isOurs: _, isLeased, refusedOperations: __, ...status } = await this.read();
    const { obtainedAt, expiresAt, rejectedAt, failures } = status;
    const ageSeconds = obtainedAt && Math.round((now.getTime() - obtainedAt.getTime()) / 1_000);
    const held = token === null ? 'none' : expiresAt! > now ? 'valid' : 'expired';
    const blocked = failures > 0 && !isLeased ? 'rejected' : 'on_trial';
    return { state: rejectedAt === null ? held : blocked, ageSeconds, ...status } as const;
  }
}
