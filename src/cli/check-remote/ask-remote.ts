import { randomUUID } from 'node:crypto';
import { readTokenResponse, TOKEN_RESPONSE, tokenRequest } from '../../auth/token.client.js';
import { readSessionRequest, type PathShape } from '../../onboarding/remote/session.client.js';
import type { Environment } from '../../platform/env/environment.js';
import { hideToken } from '../../platform/redaction/secrets.js';
import { findDrift } from '../../drift/find-drift.js';
import { type Fields, readObject } from '../../remote/wire/read-field.js';
import { UnreadableResponse } from '../../remote/wire/read-response.js';
import type { RawRemote } from './raw-remote.js';
import {
  isLost,
  type SeenCall,
  type SeenHarm,
  type SeenObject,
  type SeenRefusals,
  type SeenToken,
  tokenFormOf,
} from './seen.rules.js';

/** A token that our database has. */
export interface StoredToken {
  readonly token: string;
  readonly expiresInRaw: string | null;
  readonly tokenType: string | null;
  readonly obtainedAt: Date;
}

/** The calls that change nothing at the remote service (interface sections 4.1, 4.4, 4.5). */
export class RemoteQuestions {
  constructor(
    private readonly raw: RawRemote,
    private readonly environment: Environment,
  ) {}

  probe(ApiKey: string | undefined = this.environment.SCS_API_KEY): Promise<SeenCall> {
    return this.raw.call({ method: 'GET', path: '/api/v1/ssa', headers: { ApiKey } });
  }

  /** Requests a token, or takes the valid one of our database: a second token might end the first. */
  async token(
    stored: StoredToken | null,
  ): Promise<{ readonly value: string | null; readonly seen: SeenToken }> {
    if (stored !== null) {
      const { token: value, expiresInRaw, tokenType, obtainedAt: receivedAt } = stored;
      const expiresIn: unknown = expiresInRaw === null ? undefined : parsed(expiresInRaw);
      const form = tokenFormOf(value);
      const seen = {
        ...{ call: null, drifts: [], fault: null, expiresIn, tokenType, form, receivedAt, isStored: true },
      };
      return { value, seen };
    }
    const call = await this.requestToken(this.environment);
    const read = readBody(call, TOKEN_RESPONSE.documented, (fields) => {
      const token = readTokenResponse(fields, new Date());
      hideToken(token.value);
      return token;
    });
    // The form of expires_in and token_type has findings of its own.
    const drifts = read.drifts.filter(({ field }) => field !== 'expires_in' && field !== 'token_type');
    const token = read.value;
    return {
      value: token?.value ?? null,
      seen: {
        call: read.call,
        drifts,
        fault: read.fault,
        expiresIn: read.fields?.expires_in,
        tokenType: read.fields?.token_type,
        form: token && tokenFormOf(token.value),
        receivedAt: new Date(),
        isStored: false,
      },
    };
  }

  /** Sends what lacks a key, lacks a token, or names a session that does not exist. `token` is null if there is none. */
  async refusals(token: string | null): Promise<SeenRefusals> {
    const { SCS_API_KEY: ApiKey } = this.environment;
    const no_key = await this.raw.call({ method: 'GET', path: '/api/v1/ssa' });
    if (token === null) return { no_key, no_token: null, unknown_id: null };
    const path = unknownPath('onboarding');
    const no_token = await this.raw.call({ method: 'GET', path, headers: { ApiKey } });
    const onboarding = await this.readUnknown('onboarding', token);
    return { no_key, no_token, unknown_id: { onboarding, user: await this.readUnknown('user', token) } };
  }

  /** Sends a wrong key and a wrong secret, once each, and then requests a second token and uses the first. */
  async harm(token: string): Promise<SeenHarm> {
    const wrong = `wrong-${randomUUID()}`;
    const wrong_key = await this.probe(wrong);
    const wrong_secret = await this.requestToken({ ...this.environment, SCS_CLIENT_SECRET: wrong });
    await this.token(null);
    return { wrong_key, wrong_secret, earlierToken: await this.readUnknown('onboarding', token) };
  }

  private requestToken(credentials: Environment): Promise<SeenCall> {
    const { path, headers, body } = tokenRequest(credentials);
    const { SCS_API_KEY: ApiKey } = this.environment;
    return this.raw.call({
      method: 'POST',
      path,
      headers: { ApiKey, ...headers },
      ...(body !== undefined && { body }),
    });
  }

  private readUnknown(shape: PathShape, token: string): Promise<SeenCall> {
    const { SCS_API_KEY: ApiKey } = this.environment;
    const headers = { ApiKey, authorization: `Bearer ${token}` };
    return this.raw.call({ method: 'GET', path: unknownPath(shape), headers });
  }
}

const unknownPath = (shape: PathShape): string =>
  readSessionRequest(shape, { sessionId: randomUUID(), userId: randomUUID() }).path;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Reads a response as the service does: with the same description of its fields, and the same `read`. */
export function readBody<T>(
  call: SeenCall,
  documented: Parameters<typeof findDrift>[1],
  read: (fields: Fields) => T,
): SeenObject & { readonly fields: Fields | null; readonly value: T | null } {
  const nothing = { call, drifts: [], fields: null, value: null };
  if (isLost(call)) return { ...nothing, fault: call.lost };
  if (call.status >= 300) return { ...nothing, fault: `status ${call.status}` };
  let fields: Fields | null = null;
  try {
    fields = readObject(call.body);
    const drifts = findDrift(fields, documented);
    return { call, drifts, fault: null, fields, value: read(fields) };
  } catch (error) {
    if (!(error instanceof UnreadableResponse)) throw error;
    const drifts = fields === null ? [] : findDrift(fields, documented);
    return { call, drifts, fault: error.message, fields, value: null };
  }
}
