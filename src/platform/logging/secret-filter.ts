import type { Environment } from '../env/environment.js';

const CENSOR = '[redacted]';
/** A secret this short would blacken ordinary words; the sandbox's and the shortest real ones are longer. */
const SHORTEST = 8;
const BEARER = /\b(Bearer\s+)[A-Za-z0-9\-._~+/]{8,}=*/gi;
const URL_PASSWORD = /\b([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*:)[^\s@/]+@/gi;

type Secrets = Pick<
  Environment,
  'ADMIN_API_KEY' | 'ENCRYPTION_KEYS' | 'SCS_API_KEY' | 'SCS_CLIENT_SECRET' | 'DATABASE_URL'
>;

/**
 * The last net: nothing of ours puts a secret into a message, but an error of a library may. Knows the secrets of the
 * configuration by value, and tokens and passwords of URLs by their shape.
 */
export function secretFilter(environment: Secrets): (text: string) => string {
  const known = [
    environment.ADMIN_API_KEY,
    environment.SCS_API_KEY,
    environment.SCS_CLIENT_SECRET,
    passwordOf(environment.DATABASE_URL),
    ...environment.ENCRYPTION_KEYS,
  ]
    .filter((secret) => secret.length >= SHORTEST)
    // Also as it stands inside a JSON string and in a form or query.
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  const secrets = [...new Set(known)].sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const secret of secrets) clean = clean.replaceAll(secret, CENSOR);
    return clean.replace(BEARER, `$1${CENSOR}`).replace(URL_PASSWORD, `$1${CENSOR}@`);
  };
}

const passwordOf = (url: string): string =>
  URL.canParse(url) ? decodeURIComponent(new URL(url).password) : '';
