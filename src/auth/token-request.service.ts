import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { hideToken, LEAST_SECRET_LENGTH } from '../observability/redaction/secrets.js';
import { STOP_WITHIN_MS } from '../platform/shutdown/limits.js';
import { ContractDrift } from '../remote/drift/contract-drift.service.js';
import type { DocumentedFields, Drift } from '../remote/drift/drift.js';
import type { NotSent, Outcome, RemoteRequest } from '../remote/outcome.rules.js';
import { Remote } from '../remote/remote.service.js';
import type { Fields } from '../remote/wire/read-field.js';
import { UnreadableResponse } from '../remote/wire/read-response.js';
import { grantOf, type Grant } from './bearer-tokens.js';
import { readExpiresIn } from './expires-in.rules.js';
import { coolDownMs, endpointWaitMs, renewAfterMs, type TokenRow } from './token-plan.rules.js';
import { TokenStore, type Token } from './token.store.js';

/** Interface section 2.2. That section is ambiguous about `expires_in`: see findTokenDrift. */
const TOKEN_RESPONSE: DocumentedFields = {
  access_token: 'string',
  expires_in: 'anything',
  token_type: 'string',
};
const SAMPLE_TOKEN_TYPE = 'pvcurtailment';

/** Characters allowed in a header, at least as many as can be hidden in logs, and a length that typical servers accept. */
const USABLE = new RegExp(`^[\\x21-\\x7e]{${LEAST_SECRET_LENGTH},8000}$`);

type Failure = Exclude<Outcome<Token>, { kind: 'done' }>;

@Injectable()
export class TokenRequest implements OnModuleDestroy {
  private readonly logger = new Logger('Auth');
  private readonly stop = new AbortController();

  constructor(
    private readonly store: TokenStore,
    private readonly remote: Remote,
    private readonly drift: ContractDrift,
    private readonly environment: Environment,
  ) {}

  onModuleDestroy(): void {
    setTimeout(() => this.stop.abort(), STOP_WITHIN_MS.token).unref();
  }

  get isStopping(): boolean {
    return this.stop.signal.aborted;
  }

  /** Requests and saves a token. Returns null if the lease expired and another replica claimed it. `trialLeaseMs`: null outside a trial. */
  async obtain(row: TokenRow, lease: string, trialLeaseMs: number | null): Promise<Grant | NotSent | null> {
    const { signal } = this.stop;
    const sent = await this.remote.send({ ...tokenRequest(this.environment), signal });
    const outcome = this.drift.interpret('token', sent, TOKEN_RESPONSE, (fields) =>
      readTokenResponse(fields, new Date()),
    );
    if (outcome.kind !== 'done') return this.failed(row, lease, outcome);
    const { value: token } = outcome;
    const { reading, lifetimeMs } = token.life;
    hideToken(token.value);
    this.drift.report('token', findTokenDrift(token));
    const renewInMs = renewAfterMs(lifetimeMs, Math.random());
    const generation = await this.store.save(lease, token, renewInMs, trialLeaseMs);
    if (generation === null) return null;
    this.logger.log(
      `token of generation ${generation}: expires_in read as ${reading}, ${lifetimeMs / 1_000} s`,
    );
    return { ...grantOf(token.value, generation), ...(trialLeaseMs !== null && { trial: lease }) };
  }

  private async failed(row: TokenRow, lease: string, outcome: Failure): Promise<NotSent> {
    if (this.isStopping || (outcome.kind === 'not_sent' && outcome.reason === 'stopping')) {
      await this.store.release(lease, 0);
      return { kind: 'not_sent', reason: 'stopping' };
    }
    const rejected = isAboutCredentials(outcome);
    const requestedMs = 'retryAfterMs' in outcome ? (outcome.retryAfterMs ?? 0) : 0;
    const retryAfterMs = rejected
      ? coolDownMs(row.failures + 2)
      : Math.max(endpointWaitMs(row.failures, Math.random()), requestedMs);
    const error = `no token: ${describe(outcome)}`;
    await this.store.fail(lease, error, retryAfterMs, rejected);
    const level = row.failures === 0 ? 'warn' : 'debug';
    this.logger[level](`${error}; next attempt in ${Math.round(retryAfterMs)} ms`);
    const reason = rejected ? 'credentials_rejected' : 'token_unavailable';
    return { kind: 'not_sent', reason, retryAfterMs };
  }
}

/** Returns the token request (interface section 4.1). */
export function tokenRequest({
  SCS_CLIENT_ID: client_id,
  SCS_CLIENT_SECRET: client_secret,
  SCS_SCOPE: scope,
}: Pick<Environment, 'SCS_CLIENT_ID' | 'SCS_CLIENT_SECRET' | 'SCS_SCOPE'>): RemoteRequest {
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope };
  return {
    operation: 'token',
    method: 'POST',
    path: '/api/v1/ssa/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  };
}

/** Reads the response (interface section 2.2). Throws UnreadableResponse if access_token is unusable. Accepts any `expires_in`. */
export function readTokenResponse(fields: Fields, receivedAt: Date): Token {
  const { access_token: value, token_type: type, expires_in: expiresIn } = fields;
  if (typeof value !== 'string' || !USABLE.test(value)) {
    throw new UnreadableResponse(
      `access_token is not a string of ${LEAST_SECRET_LENGTH} to 8000 visible ASCII characters`,
    );
  }
  return {
    value,
    tokenType: typeof type === 'string' ? type.replace(/[^\x20-\x7e]/g, '?').slice(0, 100) : null,
    expiresInRaw: expiresIn === undefined ? null : JSON.stringify(expiresIn).slice(0, 100),
    life: readExpiresIn(expiresIn, receivedAt),
  };
}

/** Returns the drift if `expires_in` is neither a timestamp nor seconds, or if token_type differs from the sample. */
function findTokenDrift({ tokenType, life: { reading } }: Token): Drift[] {
  const kind = 'token_form';
  const drifts: Drift[] = [];
  if (reading !== 'timestamp' && reading !== 'seconds')
    drifts.push({ kind, field: 'expires_in', expected: 'timestamp or seconds', found: reading });
  if (tokenType !== null && tokenType !== SAMPLE_TOKEN_TYPE) {
    const found = /^bearer$/i.test(tokenType) ? 'Bearer' : 'another word';
    drifts.push({ kind, field: 'token_type', expected: SAMPLE_TOKEN_TYPE, found });
  }
  return drifts;
}

/** Returns whether the credentials were refused: by a 401 or 403, or by a 400 (RFC 6749, section 5.2). */
const isAboutCredentials = (outcome: Failure): boolean =>
  outcome.kind === 'rejected' && [400, 401, 403].includes(outcome.status);

function describe(outcome: Failure): string {
  switch (outcome.kind) {
    case 'rejected':
      return `responded with status ${outcome.status}: ${outcome.detail}`;
    case 'not_sent':
    case 'ambiguous':
      return outcome.reason;
    case 'unreadable':
      return `responded with status ${outcome.status}, but ${outcome.reason}`;
  }
}
