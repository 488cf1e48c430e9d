/** Proxies may truncate or reject longer URLs. */
const MAX_LENGTH = 2_000;

export interface UrlRules {
  /** Whether plain http is allowed. */
  readonly allowsHttp: boolean;
  /** Returns why a host must not be connected to (`is a loopback address`), or null if it may. */
  readonly refusalOfHost: (host: string) => string | null;
}

/**
 * Returns why webhooks cannot be sent to the URL, or undefined if they can. Names are resolved only when connecting, because their
 * addresses may change. Addresses are also checked here, where the caller sees the reason. Never includes the value, which may
 * contain a secret of the receiver.
 */
export function webhookUrlFault(value: string, { allowsHttp, refusalOfHost }: UrlRules): string | undefined {
  if (value.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters, not ${value.length}`;
  // URL would silently remove line breaks and blanks.
  if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(value) || !URL.canParse(value))
    return 'must be a URL that begins with https:// or http://';
  const url = new URL(value);
  if (url.protocol === 'http:' && !allowsHttp) return 'must begin with https://';
  if (url.username !== '' || url.password !== '')
    return 'must not hold a user or password; send an Authorization header instead';
  if (value.includes('#')) return 'must not hold a fragment: it would not be sent';
  const refused = refusalOfHost(url.hostname);
  return refused === null ? undefined : `must lead to a public address: its host ${refused}`;
}

/** Returns the part that may be shown of a URL whose path or query may contain a secret. */
export const originOf = (url: string): string => new URL(url).origin;
