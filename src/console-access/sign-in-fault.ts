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
  const responses = chain.filter((each) => each instanceof Response);
  const words = [
    ...texts,
    ...responses.map(({ status, url }) => `status ${status} of ${url.split('?', 1)[0]}`),
    ...[...new Set(claims)].map((claim) => `claim ${redact(claim, 50)}`),
    ...[...new Set(said)].flatMap((each) => (each === undefined ? [] : `the provider says: ${redact(each)}`)),
  ];
  return words.join('; ').slice(0, MAX_LENGTH);
}

const causeOf = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);

/** Returns a text of an error of the library, whose names are those of OAuth. */
function field(error: unknown, name: 'error' | 'error_description' | 'claim'): string | undefined {
  const value: unknown =
    typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}
