import { errorText } from '../platform/redaction/error-text.js';
import { redact } from '../platform/redaction/redaction.js';

/** The most errors of a chain of causes that are named. */
const MOST_CAUSES = 4;
const MAX_LENGTH = 600;

/**
 * Describes why a sign-in failed, for the log: the errors of the client's library, which have the claim at fault or the unexpected response
 * as a cause, and what the provider said, redacted.
 */
export function signInFault(error: unknown): string {
  const chain: unknown[] = [];
  for (let each = error; each !== undefined && chain.length < MOST_CAUSES; each = causeOf(each))
    chain.push(each);
  const texts = chain.filter((each) => each instanceof Error).map(errorText);
  const said = chain.flatMap((each) => [field(each, 'error'), field(each, 'error_description')]);
  const claims = chain.flatMap((each) => field(each, 'claim') ?? []);
  const responses = chain.filter(isResponse);
  const words = [
    ...texts,
    ...responses.map(({ status, url }) => `status ${status} of ${url.split('?', 1)[0]}`),
    ...chain.flatMap(issuersIn),
    ...[...new Set(claims)].map((claim) => `claim ${redact(claim, 50)}`),
    ...[...new Set(said)].flatMap((each) => (each === undefined ? [] : `the provider says: ${redact(each)}`)),
  ];
  return words.join('; ').slice(0, MAX_LENGTH);
}

/** The responses of undici's `fetch` are no instances of the global `Response`. */
const isResponse = (each: unknown): each is Response =>
  Object.prototype.toString.call(each) === '[object Response]';

const causeOf = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);

/** Names both issuers of an error of the library about the issuer in a document, a token or a callback. */
function issuersIn(error: unknown): string[] {
  if (!(error instanceof Error && error.message.includes('issuer'))) return [];
  const { expected, body, claims, parameters } = Object(error.cause) as Readonly<Record<string, unknown>>;
  const inCallback = parameters instanceof URLSearchParams ? parameters.get('iss') : undefined;
  const stated = inCallback ?? field(body, 'issuer') ?? field(claims, 'iss');
  if (typeof expected !== 'string' || stated === undefined) return [];
  return [
    `the expected issuer is ${shown(expected)}, the provider states ${shown(stated)} (see CONSOLE_OIDC_ISSUER)`,
  ];
}

/** Returns an issuer with its path, by which issuers differ, but without credentials, parameters and what looks like a secret. */
const shown = (issuer: string): string =>
  issuer
    .replace(/[?#].*/s, '')
    .replace(/(?<=:\/\/)[^/]*@/, '')
    .split('/', 12)
    .map((part) => redact(part, 80))
    .join('/');

/** Returns a text of an error of the library, whose names are those of OAuth. */
function field(error: unknown, name: string): string | undefined {
  const value: unknown =
    typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}
