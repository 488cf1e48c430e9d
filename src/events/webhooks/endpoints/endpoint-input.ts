import type { Environment } from '../../../platform/env/environment.js';
import type { FieldError } from '../../../platform/problem/problem.js';
import { EVENT_NAMES, type EventName } from '../../catalogue.rules.js';
import { findEventName } from '../../cloud-event.js';
import { webhookSecretFault } from '../secrets/secret.rules.js';
import { refusalOfHost } from '../send/addresses.js';
import type { NewWebhookEndpoint } from './endpoints.dto.js';

/** Proxies may truncate or reject longer URLs. */
const MAX_URL_LENGTH = 2_000;
/** More than any receiver or gateway needs; all are sent with every request. */
const MAX_HEADERS = 10;
const MAX_NAME_LENGTH = 64;
/** Fits a long access token. Ten such headers stay within the 16 kB that most servers accept. */
const MAX_VALUE_LENGTH = 1_024;
/** Allows headers that identify the sender. All other headers describe the message or the connection, or are meant for proxies. */
const ALLOWED = /^(authorization|x-[a-z0-9-]*[a-z0-9])$/i;
/** Headers that the receiver's own proxy would trust. */
const BELIEVED_BY_PROXIES =
  /^x-(forwarded|real-ip|original|rewrite|http-method|method-override|client|cluster)/i;
const PRINTABLE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** Returns the errors of the given fields, whose types are already validated. Never includes the value of a URL, header or secret. */
export function endpointInputErrors(
  { url, types = [], headers = {}, secret }: Partial<NewWebhookEndpoint>,
  environment: Environment,
): FieldError[] {
  return [
    ...faultAt('url', url === undefined ? undefined : urlFault(url, environment)),
    ...typeErrors(types),
    ...headerErrors(headers),
    ...faultAt('secret', secret === undefined ? undefined : webhookSecretFault(secret)),
  ];
}

/** Returns an error for each item that is not an event name or event type. */
export function typeErrors(types: readonly string[]): FieldError[] {
  const message = `must be one of ${EVENT_NAMES.join(', ')}`;
  return types.flatMap((type, index) =>
    findEventName(type) === null ? [{ field: `types[${index}]`, message }] : [],
  );
}

/** Returns each named event once, in catalogue order. Drops unknown names. */
export const eventNamesOf = (types: readonly string[]): EventName[] => {
  const named = new Set(types.map(findEventName));
  return EVENT_NAMES.filter((name) => named.has(name));
};

const faultAt = (field: string, message: string | undefined): FieldError[] =>
  message === undefined ? [] : [{ field, message }];

/**
 * Returns what is wrong with the URL. Checks an IP address here, so that the caller sees the reason. The addresses of a host name are
 * checked when connecting, because they may change.
 */
function urlFault(value: string, environment: Environment): string | undefined {
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

function headerErrors(headers: Readonly<Record<string, unknown>>): FieldError[] {
  const names = Object.keys(headers);
  if (names.length > MAX_HEADERS)
    return [{ field: 'headers', message: `must hold at most ${MAX_HEADERS} headers, not ${names.length}` }];
  const seen = new Set<string>();
  return names.flatMap((name) => {
    const message = headerFault(name, headers[name], seen);
    seen.add(name.toLowerCase());
    return faultAt(`headers.${name.slice(0, MAX_NAME_LENGTH)}`, message);
  });
}

function headerFault(name: string, value: unknown, seen: ReadonlySet<string>): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return `must have a name of at most ${MAX_NAME_LENGTH} characters`;
  if (!ALLOWED.test(name)) return 'is not allowed: a header is Authorization, or begins with X-';
  if (BELIEVED_BY_PROXIES.test(name)) return 'is not allowed: proxies use this name';
  if (seen.has(name.toLowerCase())) return 'is repeated: names are compared without regard to case';
  if (typeof value !== 'string') return 'must be a string';
  if (value.length < 1 || value.length > MAX_VALUE_LENGTH)
    return `must have 1 to ${MAX_VALUE_LENGTH} characters, not ${value.length}`;
  return PRINTABLE.test(value)
    ? undefined
    : 'must be printable ASCII, without a blank at either end or a line break';
}
