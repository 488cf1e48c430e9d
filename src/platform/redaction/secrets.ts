import querystring from 'node:querystring';
import { proxySecretsOf } from '../http-client/proxies.js';
import type { Environment } from '../env/environment.js';

export const HIDDEN = '[redacted]';

/** The length of the shortest secret that is hidden. Shorter values may be ordinary words. */
export const LEAST_SECRET_LENGTH = 6;

const BEARER = /\b(Bearer\s+)[A-Za-z0-9\-._~+/]{8,}=*/gi;
/** Matches secrets in the form of Standard Webhooks. There may be many, so they are recognised by form, not by value. */
const WEBHOOK_SECRET = /\bwhsec_[A-Za-z0-9+/_-]{8,}=*/g;
/** Matches the cookies of the console's sessions. */
const CONSOLE_COOKIE = /\b(pvo_console\w*=)[^\s;,"']+/g;
const URL_PASSWORD = /\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@]*:)[^\s@/]+@/gi;

/** The secrets of the whole process. They are global, because code without injected dependencies also redacts. */
let secrets: readonly string[] = [];
const tokens: string[] = [];
/** Matches all secrets and tokens. Undefined if it must be rebuilt, null if there are none. */
let known: RegExp | null | undefined;

export function hideConfiguredSecrets(environment: Environment): void {
  hideSecrets([
    environment.ADMIN_API_KEY,
    environment.SCS_API_KEY,
    environment.SCS_CLIENT_ID,
    environment.SCS_CLIENT_SECRET,
    environment.CONSOLE_OIDC_CLIENT_SECRET ?? '',
    passwordOf(environment.DATABASE_URL),
    passwordOf(environment.DATABASE_DIRECT_URL),
    ...environment.ENCRYPTION_KEYS,
    ...proxySecretsOf(environment),
    ...(environment.EVENT_BROKER_URL?.split(',') ?? []).map(brokerSecretOf),
    ...otlpSecretsOf(environment.OTEL_EXPORTER_OTLP_ENDPOINT, environment.OTEL_EXPORTER_OTLP_HEADERS),
  ]);
}

/** Registers values to redact. Needed in processes without ServiceLogger, which registers all configured secrets. */
export function hideSecrets(values: readonly string[]): void {
  const forms = values.filter((value) => value.length >= LEAST_SECRET_LENGTH).flatMap(formsOf);
  secrets = [...new Set([...secrets, ...forms])];
  known = undefined;
}

export function hideToken(value: string): void {
  if (value.length < LEAST_SECRET_LENGTH || tokens.includes(value)) return;
  tokens.push(value);
  known = undefined;
  // 16 are enough: a token has expired before it is dropped.
  if (tokens.length > 16) tokens.shift();
}

/** Returns the text without secrets, matched by value or form. Every log line passes through it: a library's error may quote a secret. */
export function withoutSecrets(text: string): string {
  known ??= knownSecrets();
  return (known === null ? text : text.replace(known, HIDDEN))
    .replace(BEARER, `$1${HIDDEN}`)
    .replace(WEBHOOK_SECRET, HIDDEN)
    .replace(CONSOLE_COOKIE, `$1${HIDDEN}`)
    .replace(URL_PASSWORD, `$1${HIDDEN}@`);
}

/** Returns the text without secrets that not the whole process knows, such as those of one receiver. */
export const withoutValues = (text: string, values: readonly string[]): string =>
  values
    .filter((value) => value.length >= LEAST_SECRET_LENGTH)
    .flatMap(formsOf)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, form) => rest.replaceAll(form, HIDDEN), text);

/** Returns one pattern, so that no replacement is examined again. The longest value comes first, because it may contain another. */
function knownSecrets(): RegExp | null {
  const values = [...secrets, ...tokens].sort((a, b) => b.length - a.length);
  if (values.length === 0) return null;
  return new RegExp(values.map((value) => value.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
}

const passwordOf = (url: string) => (URL.canParse(url) ? querystring.unescape(new URL(url).password) : '');

/** Returns the password or, if there is none, the user name, which is then a token. */
const brokerSecretOf = (url: string): string =>
  passwordOf(url) || (URL.canParse(url) ? querystring.unescape(new URL(url).username) : '');

/** Returns the password of a collector's URL, and the values of its headers, as they are given and as they are sent. */
export function otlpSecretsOf(url = '', headers = ''): string[] {
  const given = headers.split(',').map((pair) => pair.replace(/^[^=]*=/, '').trim());
  return [passwordOf(url), ...given, ...given.map((value) => querystring.unescape(value))];
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": '#39',
};

/** Returns the value as is, URL-encoded, form-encoded, escaped for JSON (PHP escapes `/`, too) and for HTML, and in base64. */
const formsOf = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  new URLSearchParams({ v: value }).toString().slice(2),
  JSON.stringify(value).slice(1, -1),
  JSON.stringify(value).slice(1, -1).replaceAll('/', '\\/'),
  value.replace(/[&<>"']/g, (mark) => `&${ENTITIES[mark]};`),
  Buffer.from(value).toString('base64'),
];
