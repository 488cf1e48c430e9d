/** Longer ones are cut or refused by proxies on the way. */
const MAX_LENGTH = 2_000;

export interface UrlRules {
  /** Whether plain http will do. */
  readonly allowsHttp: boolean;
  /** Why a host must not be connected to, such as `is a loopback address`; null when it may be. */
  readonly refusalOfHost: (host: string) => string | null;
}

/**
 * Why webhooks cannot be sent there, or undefined when they can. A name is looked up when it is connected to, since what it leads
 * to may change; an address is checked here too, where somebody can still read why. Never says what the value was: it may hold a
 * secret of the receiver.
 */
export function webhookUrlFault(value: string, { allowsHttp, refusalOfHost }: UrlRules): string | undefined {
  if (value.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters, not ${value.length}`;
  // URL would take line breaks and blanks out without a word.
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

/** What may be shown of an address that may hold a secret in its path or query. */
export const originOf = (url: string): string => new URL(url).origin;
