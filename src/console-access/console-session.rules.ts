/** How long a session lasts. docs/console.md promises 12 hours. */
export const SESSION_MS = 12 * 3_600_000;

/** A session that began with an API key. It stores only the hash of the key, by which the key is found. */
interface KeySession {
  readonly kind: 'key';
  /** The hash in base64. */
  readonly keyHash: string;
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

export const keyHashOf = ({ keyHash }: KeySession): Buffer<ArrayBuffer> => Buffer.from(keyHash, 'base64');

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
