import type { Environment } from '../env/environment.js';

export const HIDDEN = '[redacted]';

/** A shorter configured value (a scope, a test's "x") would blank out ordinary words. */
const SHORTEST_SECRET = 6;
/** Tokens come and go; old ones have expired by the time they are forgotten. */
const REMEMBERED_TOKENS = 16;
const BEARER = /\b(Bearer\s+)[A-Za-z0-9\-._~+/]{8,}=*/gi;
/** The form of Standard Webhooks. There may be many, so they are known by it and not by their value. */
const WEBHOOK_SECRET = /\bwhsec_[A-Za-z0-9+/_-]{8,}=*/g;
const URL_PASSWORD = /\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@]*:)[^\s@/]+@/gi;

/**
 * Errors arise in pure code, where nothing is injected, so what must never be shown is known to the whole process. The longest
 * come first, since one may be a part of another.
 */
let secrets: readonly string[] = [];
const tokens: string[] = [];

type Secrets = Pick<
  Environment,
  | 'ADMIN_API_KEY'
  | 'ENCRYPTION_KEYS'
  | 'SCS_API_KEY'
  | 'SCS_CLIENT_ID'
  | 'SCS_CLIENT_SECRET'
  | 'DATABASE_URL'
  | 'EVENT_BROKER_URL'
>;

/** Names the secrets of the configuration, to be taken out wherever they appear, in every form that they may take. */
export function hideConfiguredSecrets(environment: Secrets): void {
  hideSecrets([
    environment.ADMIN_API_KEY,
    environment.SCS_API_KEY,
    environment.SCS_CLIENT_ID,
    environment.SCS_CLIENT_SECRET,
    passwordOf(environment.DATABASE_URL),
    ...environment.ENCRYPTION_KEYS,
    ...(environment.EVENT_BROKER_URL?.split(',') ?? []).map(brokerSecretOf),
  ]);
}

/** The same for single values, where there is no logger that would have named all of them. */
export function hideSecrets(values: readonly string[]): void {
  const forms = values.filter((value) => value.length >= SHORTEST_SECRET).flatMap(formsOf);
  secrets = [...new Set([...secrets, ...forms])].sort((a, b) => b.length - a.length);
}

/** Names a token that must be taken out for as long as it may be in use. */
export function hideToken(value: string): void {
  if (tokens.includes(value)) return;
  tokens.push(value);
  if (tokens.length > REMEMBERED_TOKENS) tokens.shift();
}

/**
 * The text without secrets: those of the configuration and the tokens in use by their value, other tokens and passwords of URLs by
 * their shape. Everything else stays, so whole log lines pass through here, as the last net: nothing of ours puts a secret into a
 * message, but an error of a library may.
 */
export function withoutSecrets(text: string): string {
  let clean = text;
  for (const secret of [...secrets, ...tokens]) clean = clean.replaceAll(secret, HIDDEN);
  return clean
    .replace(BEARER, `$1${HIDDEN}`)
    .replace(WEBHOOK_SECRET, HIDDEN)
    .replace(URL_PASSWORD, `$1${HIDDEN}@`);
}

const passwordOf = (url: string): string =>
  URL.canParse(url) ? decodeURIComponent(new URL(url).password) : '';

/** A name without a password is a token. */
const brokerSecretOf = (url: string): string =>
  passwordOf(url) || (URL.canParse(url) ? decodeURIComponent(new URL(url).username) : '');

/** As it is, in a URL, in a form, inside a JSON string, and in base64. */
const formsOf = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  new URLSearchParams({ v: value }).toString().slice(2),
  JSON.stringify(value).slice(1, -1),
  Buffer.from(value).toString('base64'),
];
