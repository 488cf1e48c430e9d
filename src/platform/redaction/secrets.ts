import type { Environment } from '../env/environment.js';

export const HIDDEN = '[redacted]';

/** A shorter configured value (a scope, a test's "x") would blank out ordinary words. */
const SHORTEST_SECRET = 6;
/** Tokens are replaced over time; old ones have expired before they are forgotten here. */
const REMEMBERED_TOKENS = 16;
const BEARER = /\b(Bearer\s+)[A-Za-z0-9\-._~+/]{8,}=*/gi;
/** The form of Standard Webhooks. There may be many, so they are recognised by form, not by value. */
const WEBHOOK_SECRET = /\bwhsec_[A-Za-z0-9+/_-]{8,}=*/g;
const URL_PASSWORD = /\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@]*:)[^\s@/]+@/gi;

/**
 * Errors arise in pure code without injection, so the secrets are known to the whole process. Longest first, since one may be a part of
 * another.
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

/** Registers the secrets of the configuration, in every form, to be removed from all texts. */
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

/** Registers single values, for processes without a logger that registers all of them. */
export function hideSecrets(values: readonly string[]): void {
  const forms = values.filter((value) => value.length >= SHORTEST_SECRET).flatMap(formsOf);
  secrets = [...new Set([...secrets, ...forms])].sort((a, b) => b.length - a.length);
}

/** Registers a token, to be removed while it may be in use. */
export function hideToken(value: string): void {
  if (tokens.includes(value)) return;
  tokens.push(value);
  if (tokens.length > REMEMBERED_TOKENS) tokens.shift();
}

/**
 * Returns the text without secrets: configured secrets and tokens in use are matched by value, other tokens and passwords of URLs by form.
 * The rest of the text is unchanged, so whole log lines pass through here. It is a safety net: our code puts no secret into a message, but
 * an error of a library may.
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

/** A user name without a password is a token. */
const brokerSecretOf = (url: string): string =>
  passwordOf(url) || (URL.canParse(url) ? decodeURIComponent(new URL(url).username) : '');

/** Returns the value as is, URL-encoded, form-encoded, escaped for JSON, and in base64. */
const formsOf = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  new URLSearchParams({ v: value }).toString().slice(2),
  JSON.stringify(value).slice(1, -1),
  Buffer.from(value).toString('base64'),
];
