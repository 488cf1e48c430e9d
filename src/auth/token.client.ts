import type { DocumentedFields, Drift } from '../remote/drift/drift.js';
import type { RemoteAnswer, RemoteRequest } from '../remote/outcome.rules.js';
import { UnreadableAnswer } from '../remote/wire/read-response.js';
import { readObject } from '../remote/wire/read-field.js';
import { rawExpiresIn, readExpiresIn, type TokenLife } from './expires-in.rules.js';

export interface TenantCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
}

/** An access token as received, and how long it counts as valid. */
export interface Token {
  readonly value: string;
  /** As received; the header is always `Bearer`. */
  readonly tokenType: string | null;
  readonly expiresInRaw: string | null;
  readonly life: TokenLife;
}

/** Interface section 2.2. The interface is ambiguous about `expires_in`: see findTokenDrift. */
export const TOKEN_ANSWER: DocumentedFields = {
  access_token: 'string',
  expires_in: 'anything',
  token_type: 'string',
};
const SAMPLE_TOKEN_TYPE = 'pvcurtailment';

/** Characters allowed in a header, and a length that typical servers accept. */
const HEADER_SAFE = /^[\x21-\x7e]{1,8000}$/;

/** Returns the token request (interface section 4.1). */
export function tokenRequest({ clientId, clientSecret, scope }: TenantCredentials): RemoteRequest {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope };
  return {
    operation: 'token',
    method: 'POST',
    path: '/api/v1/ssa/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  };
}

/** Reads the response (interface section 2.2). Throws UnreadableAnswer, but never because of `expires_in`. */
export function readTokenResponse(answer: RemoteAnswer, receivedAt: Date): Token {
  const fields = readObject(answer.body);
  const value = fields.access_token;
  if (typeof value !== 'string' || !HEADER_SAFE.test(value)) {
    throw new UnreadableAnswer('access_token is not a string of 1 to 8000 visible ASCII characters');
  }
  const tokenType = fields.token_type;
  return {
    value,
    tokenType: typeof tokenType === 'string' ? tokenType.replace(/[^\x20-\x7e]/g, '?').slice(0, 100) : null,
    expiresInRaw: rawExpiresIn(fields.expires_in),
    life: readExpiresIn(fields.expires_in, receivedAt),
  };
}

/**
 * Returns the drift of a token whose form the interface neither shows (a timestamp) nor describes (seconds), or whose token_type differs
 * from the sample.
 */
export function findTokenDrift({ tokenType, life }: Token): Drift[] {
  const drifts: Drift[] = [];
  if (life.reading !== 'timestamp' && life.reading !== 'seconds')
    drifts.push({
      kind: 'token_form',
      field: 'expires_in',
      expected: 'timestamp or seconds',
      found: life.reading,
    });
  if (tokenType !== null && tokenType !== SAMPLE_TOKEN_TYPE) {
    const found = /^bearer$/i.test(tokenType) ? 'Bearer' : 'another word';
    drifts.push({ kind: 'token_form', field: 'token_type', expected: SAMPLE_TOKEN_TYPE, found });
  }
  return drifts;
}
