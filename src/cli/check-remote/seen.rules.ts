import type { PathShape } from '../../onboarding/remote/session.client.js';
import { nearestInstant, parseInstant } from '../../platform/time/instant.rules.js';
import type { Drift } from '../../remote/drift.js';

/** A response as it came. */
export interface SeenResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** From the request to the end of the body. */
  readonly ms: number;
  readonly receivedAt: Date;
}

/** A call without a response, and why, without secrets. */
export interface LostCall {
  readonly lost: string;
}

export type SeenCall = SeenResponse | LostCall;

export const isLost = (call: SeenCall): call is LostCall => 'lost' in call;

export const statusOf = (call: SeenCall | null): number | null =>
  call === null || isLost(call) ? null : call.status;

/** The certificate of the remote service, as this machine sees it. */
export interface SeenTls {
  readonly protocol: string | null;
  /** The code of the fault for which the chain is not trusted; null if it is. */
  readonly fault: string | null;
  readonly validity: { readonly validFrom: string; readonly validTo: string } | null;
}

/** What was seen of the connection to the remote service. */
export interface SeenNetwork {
  readonly host: string;
  readonly isEncrypted: boolean;
  readonly isLoopback: boolean;
  /** How many addresses the name has, or why it was not resolved. */
  readonly names: number | LostCall;
  /** Null without a proxy. */
  readonly proxy: {
    readonly variable: string;
    /** Without its credentials. */
    readonly address: string;
    /** Why it opens no tunnel to the remote service. Null if it does. */
    readonly fault: string | null;
    /** Whether the proxy itself fails or refuses. If not, it cannot connect to the remote service. */
    readonly isAtFault: boolean;
  } | null;
  /** Null if the connection is not encrypted. */
  readonly tls: SeenTls | LostCall | null;
}

/** A response in the documented shape, or how it differs. */
export interface SeenObject {
  /** Null if an earlier run or the service has made the call: its response is no longer known. */
  readonly call: SeenCall | null;
  readonly drifts: readonly Drift[];
  /** Why the response cannot be used. Null if it can. */
  readonly fault: string | null;
}

/** The form of a token. `endsAt`: what a JWT says about its end; null if it says nothing. */
export interface TokenForm {
  readonly isJwt: boolean;
  readonly length: number;
  readonly endsAt: Date | null;
}

export interface SeenToken extends SeenObject {
  /** `expires_in` and `token_type` as they came. */
  readonly expiresIn: unknown;
  readonly tokenType: unknown;
  /** Null if there is no token. */
  readonly form: TokenForm | null;
  readonly receivedAt: Date;
  /** Whether our database already had a valid token, so that none was requested. */
  readonly isStored: boolean;
}

export interface SeenUser extends SeenObject {
  /** Whether the response has every digit of the EAN; null if the response is not known. */
  readonly keepsDigits: boolean | null;
  readonly createdAt: unknown;
}

export interface SeenSession extends SeenObject {
  readonly createdAt: unknown;
  readonly expiresAt: unknown;
  readonly startUrl: unknown;
  /** The state and the rule of the current rules (machine.rules.ts). Null if the response cannot be used. */
  readonly state: string | null;
  /** How many inverters the response lists. Null if it has no list. */
  readonly listed: number | null;
  /** The hash of the documented fields. */
  readonly facts: string | null;
}

/** Returns the time from `createdAt` to `expiresAt`, or null if one of them is not a time. */
export function lifetimeMsOf({ createdAt, expiresAt }: SeenSession): number | null {
  const [from, to] = [createdAt, expiresAt].map((value) => parseInstant(value, 'remote'));
  return from?.kind === 'instant' && to?.kind === 'instant' ? to.at.getTime() - from.at.getTime() : null;
}

/** What a user and a session showed. */
export interface SeenJob {
  readonly user: SeenUser;
  readonly start: SeenSession | null;
  /** How many inverters of the session our database knew before the reads. */
  readonly known: number;
  readonly reads: Readonly<Record<PathShape, SeenSession>> | null;
}

/** The calls that lack what the interface requires, or name a session that does not exist. They change nothing. */
export interface SeenRefusals {
  readonly no_key: SeenCall;
  readonly no_token: SeenCall | null;
  readonly unknown_id: Readonly<Record<PathShape, SeenCall>> | null;
}

/** The calls that might hurt. */
export interface SeenHarm {
  readonly wrong_key: SeenCall;
  readonly wrong_secret: SeenCall;
  /** A read with the first token after a second one was requested. */
  readonly earlierToken: SeenCall;
}

/** Everything that a check has seen. What is null was not asked. */
export interface Seen {
  readonly timeoutMs: number;
  readonly at: Date;
  readonly network: SeenNetwork;
  readonly probe: SeenCall;
  readonly token: SeenToken;
  readonly refusals: SeenRefusals;
  readonly harm: SeenHarm | null;
  readonly job: SeenJob | null;
}

/**
 * - `fits`: as the interface says, or as we expect where it is silent.
 * - `differs`: the service works, but somebody should know.
 * - `fails`: customers cannot be onboarded before it is settled.
 */
export type Level = 'fits' | 'differs' | 'fails';

/** One line of the result. */
export interface Finding {
  readonly check: string;
  readonly level: Level;
  readonly says: string;
  readonly saw: string;
  readonly means: string;
  /** The setting that follows, as in an environment file. */
  readonly setting?: string;
}

/** Returns functions that make the findings of one check. `says`: what the interface says about it. */
export function findingsOf(check: string, says: string) {
  const at =
    (level: Level) =>
    (saw: string, means = '', setting?: string): Finding => ({
      ...{ check, level, says, saw, means },
      ...(setting !== undefined && { setting }),
    });
  return { fits: at('fits'), differs: at('differs'), fails: at('fails') };
}

/** The form of a timestamp, as in `--record` and in the result. */
export interface TimeForm {
  readonly fractionDigits: number;
  readonly zone: 'Z' | 'offset' | 'none';
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?$/i;

/** Returns the form of a timestamp, or null if the value is not one. */
export function timeFormOf(value: unknown): TimeForm | null {
  const read = typeof value === 'string' ? TIMESTAMP.exec(value) : null;
  if (read === null) return null;
  const [, fraction = '', zone] = read;
  return {
    fractionDigits: fraction.length,
    zone: zone === undefined ? 'none' : /^z$/i.test(zone) ? 'Z' : 'offset',
  };
}

export function describeTimeForm({ fractionDigits, zone }: TimeForm): string {
  const end = { Z: 'with Z', offset: 'with a numeric offset', none: 'without a zone' }[zone];
  return `${end}, ${fractionDigits === 0 ? 'whole seconds' : 'fractional seconds'}`;
}

/** Returns the form of a token. A JWT (RFC 7519) says in `exp` when it ends. */
export function tokenFormOf(token: string): TokenForm {
  const parts = token.split('.');
  const [header, claims] = parts.length === 3 ? parts.map(readPart) : [];
  const isJwt = typeof header?.alg === 'string' && claims !== null && claims !== undefined;
  const exp = isJwt && typeof claims.exp === 'number' ? claims.exp * 1_000 : NaN;
  const endsAt = Number.isNaN(exp) ? null : nearestInstant(exp);
  return { isJwt, length: token.length, endsAt };
}

function readPart(part: string): { readonly alg?: unknown; readonly exp?: unknown } | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
