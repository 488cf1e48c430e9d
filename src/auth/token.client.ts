import { LEAST_SECRET_LENGTH } from '../platform/redaction/secrets.js';
import type { Environment } from '../platform/env/environment.js';
import type { Drift } from '../remote/drift.js';
import type { RemoteRequest } from '../remote/outcome.rules.js';
import type { Fields } from '../remote/wire/read-field.js';
import { UnreadableResponse } from '../remote/wire/read-response.js';
import { readExpiresIn, type TokenLife } from './expires-in.rules.js';

export interface Token {
  readonly value: string;
  readonly tokenType: string | null;
  readonly expiresInRaw: string | null;
  readonly life: TokenLife;
}

/** The token response (interface section 2.2). The interface is ambiguous about `expires_in`: see findTokenDrift. */
export const TOKEN_RESPONSE = {
  documented: { access_token: 'string', expires_in: 'anything', token_type: 'string' },
  read: (fields: Fields) => readTokenResponse(fields, new Date()),
} as const;
const SAMPLE_TOKEN_TYPE = 'pvcurtailment';

/** Matches a token that fits in a header, can be hidden in logs, and is not longer than typical servers accept. */
const USABLE = new RegExp(`^[\\x21-\\x7e]{${LEAST_SECRET_LENGTH},8000}$`);

type Credentials = Pick<Environment, 'SCS_CLIENT_ID' | 'SCS_CLIENT_SECRET' | 'SCS_SCOPE'>;

/** Returns the token request (interface section 4.1). */
export const tokenRequest = (credentials: Credentials): RemoteRequest => ({
  operation: 'token',
  method: 'POST',
  path: '/api/v1/ssa/oauth/token',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: credentials.SCS_CLIENT_ID,
    client_secret: credentials.SCS_CLIENT_SECRET,
    scope: credentials.SCS_SCOPE,
  }).toString(),
});

/** Reads the response. Throws UnreadableResponse if access_token is unusable. Accepts any `expires_in`. */
export function readTokenResponse(fields: Fields, receivedAt: Date): Token {
  const { access_token: value, token_type: type, expires_in: expiresIn } = fields;
  if (typeof value !== 'string' || !USABLE.test(value))
    throw new UnreadableResponse(
      `access_token is not a string of ${LEAST_SECRET_LENGTH} to 8000 visible ASCII characters`,
    );
  return {
    value,
    tokenType: typeof type === 'string' ? type.replace(/[^\x20-\x7e]/g, '?').slice(0, 100) : null,
    expiresInRaw: expiresIn === undefined ? null : JSON.stringify(expiresIn).slice(0, 100),
    life: readExpiresIn(expiresIn, receivedAt),
  };
}

/** Returns the drift if `expires_in` is neither a timestamp nor seconds, or if token_type differs from the sample. */
export function findTokenDrift({ tokenType, life: { reading } }: Token): Drift[] {
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
