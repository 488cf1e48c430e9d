import type { Environment } from '../../platform/env/environment.js';
import { isPlainObject } from '../../platform/http/validation.js';
import { refusalOfHost } from '../send/addresses.js';

/** Proxies may truncate or reject longer URLs. */
export const MAX_URL_LENGTH = 2_000;
/** No receiver or gateway needs more custom headers. Every request carries all of them. */
const MAX_HEADERS = 10;
const MAX_NAME_LENGTH = 64;
/** A long access token fits into this length. Ten such headers stay within the 16 kB that most servers accept. */
const MAX_VALUE_LENGTH = 1_024;
/** Matches the headers that identify the sender. All others describe the message or the connection, or are meant for proxies. */
const ALLOWED = /^(authorization|x-[a-z0-9-]*[a-z0-9])$/i;
/** Matches the headers that the receiver's own proxy would trust. */
const BELIEVED_BY_PROXIES =
  /^x-(forwarded|real-ip|original|rewrite|http-method|method-override|client|cluster)/i;
const PRINTABLE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * Returns why the URL is invalid, or undefined if it is valid. Never includes the URL. Checks IP addresses, so that the caller sees the
 * reason. The addresses of a host name are checked at each connection instead, because they may change.
 */
export function urlFault(value: string, environment: Environment): string | undefined {
  const { NODE_ENV, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: allowsPrivate } = environment;
  if (value.length > MAX_URL_LENGTH)
    return `must have at most ${MAX_URL_LENGTH} characters, not ${value.length}`;
  // `new URL` would silently remove line breaks and blanks.
  if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(value) || !URL.canParse(value))
    return 'must be a URL that begins with https:// or http://';
  const url = new URL(value);
  // Plain http would expose events and the custom headers on the network.
  if (url.protocol === 'http:' && NODE_ENV === 'production' && !allowsPrivate)
    return 'must begin with https://';
  if (url.username !== '' || url.password !== '')
    return 'must not hold a user or password; send an Authorization header instead';
  if (value.includes('#')) return 'must not hold a fragment: it would not be sent';
  const refused = allowsPrivate ? null : refusalOfHost(url.hostname);
  return refused === null ? undefined : `must lead to a public address: its host ${refused}`;
}

/** Returns why the headers are invalid, or undefined if they are valid. Never includes the value of a header. */
export function headersFault(headers: unknown): string | undefined {
  if (!isPlainObject(headers)) return 'must be a JSON object';
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) return `must hold at most ${MAX_HEADERS} headers, not ${entries.length}`;
  const names = entries.map(([name]) => name.toLowerCase());
  if (new Set(names).size < names.length) return 'must hold each name once, without regard to case';
  for (const [name, value] of entries) {
    const fault = headerFault(name, value);
    if (fault !== undefined) return `${JSON.stringify(name.slice(0, MAX_NAME_LENGTH))} ${fault}`;
  }
  return undefined;
}

function headerFault(name: string, value: unknown): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return `must have a name of at most ${MAX_NAME_LENGTH} characters`;
  if (!ALLOWED.test(name)) return 'is not allowed: a header is Authorization, or begins with X-';
  if (BELIEVED_BY_PROXIES.test(name)) return 'is not allowed: proxies use this name';
  if (typeof value !== 'string' || value.length > MAX_VALUE_LENGTH || !PRINTABLE.test(value))
    return `must be 1 to ${MAX_VALUE_LENGTH} printable ASCII characters, without a blank at either end`;
  return undefined;
}
