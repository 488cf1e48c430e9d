import { redact } from './redaction.js';
import { HIDDEN } from './secrets.js';

const LONGEST = 300;

// An error of a library or of somebody's handler may quote anything, so also what is too short for a token but no word.
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const OPAQUE = /[A-Za-z0-9_+/=.~-]{18,}/g;
const HAS_DIGIT = /\d/;

/**
 * An error of unknown origin as it may stand in a log or a table: its name and the first line of its message, short, without what
 * may be secret.
 */
export function errorText(error: unknown): string {
  const name = error instanceof Error ? error.name : typeof error;
  const message = error instanceof Error ? error.message : '';
  const [line = ''] = message.split('\n', 1);
  return `${name}: ${withoutOpaque(redact(line))}`.slice(0, LONGEST);
}

// A word without a digit is prose or an identifier from code; a UUID names a row and is needed to find it.
const withoutOpaque = (text: string): string =>
  text.replace(OPAQUE, (word) => (UUID.test(word) || !HAS_DIGIT.test(word) ? word : HIDDEN));
