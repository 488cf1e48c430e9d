/** How long a session lasts. docs/console.md promises 12 hours. */
export const SESSION_MS = 12 * 3_600_000;

/** A session that began with an API key. It stores only the hash of the key, by which the key is found. */
interface KeySession {
  readonly kind: 'key';
  readonly keyHash: Buffer<ArrayBuffer>;
  readonly expiresAt: number;
}

/** A session of a user of the identity provider. */
export interface UserSession {
  readonly kind: 'user';
  readonly subject: string;
  readonly name: string;
  /** The user's groups that CONSOLE_OIDC_GROUPS named when the session began. */
  readonly groups: readonly string[];
  readonly expiresAt: number;
}

export type ConsoleSession = KeySession | UserSession;

export const writeSession = (session: ConsoleSession): string =>
  JSON.stringify(
    session.kind === 'key' ? { ...session, keyHash: session.keyHash.toString('base64') } : session,
  );

/** Returns the session that `writeSession` wrote, or null if it is over. */
export function readSession(text: string, now: number): ConsoleSession | null {
  const session = JSON.parse(text) as UserSession | (Omit<KeySession, 'keyHash'> & { keyHash: string });
  if (session.expiresAt <= now) return null;
  return session.kind === 'key' ? { ...session, keyHash: Buffer.from(session.keyHash, 'base64') } : session;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Returns whether a request with the cookie comes from one of our pages. A change must name our origin and have a header that a page of
 * another origin cannot add without our consent. Browsers send no `Origin` with most reads.
 */
export function isFromOwnConsole(method: string, headers: Headers, ownOrigins: readonly string[]): boolean {
  const { origin } = headers;
  if (origin !== undefined && !ownOrigins.includes(String(origin))) return false;
  return ['GET', 'HEAD'].includes(method) || (origin !== undefined && headers['x-console'] === '1');
}

/** Returns the value of a cookie in the header `Cookie`. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  const pairs = header?.split(/; */).map((pair) => pair.split('=')) ?? [];
  return pairs.find(([given]) => given === name)?.[1];
}

export interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly sameSite: 'Strict' | 'Lax';
  /** Without this, the cookie would also be sent in clear text. */
  readonly isSecure: boolean;
  /** 0 deletes the cookie. */
  readonly maxAgeMs: number;
}

/** Returns the header `Set-Cookie`. No script can read the cookie. */
export const toSetCookie = ({ name, value, path, sameSite, isSecure, maxAgeMs }: Cookie): string =>
  `${name}=${value}; Max-Age=${maxAgeMs / 1_000}; Path=${path}; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`;
