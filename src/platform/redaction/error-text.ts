import { redact } from './redaction.js';
import { HIDDEN } from './secrets.js';

const LONGEST = 300;

// An error of a library or a handler may quote anything, so this also hides opaque words that are too short for a token.
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const OPAQUE = /[A-Za-z0-9_+/=.~-]{18,}/g;
const HAS_DIGIT = /\d/;

/**
 * Returns the text of an error of unknown origin that is safe for logs and tables: its name and the first line of its message, shortened
 * and without possible secrets.
 */
export function errorText(error: unknown): string {
  const name = error instanceof Error ? error.name : typeof error;
  const message = error instanceof Error ? error.message : '';
  const [line = ''] = message.split('\n', 1);
  return `${name}: ${withoutOpaque(redact(line))}`.slice(0, LONGEST);
}

// A word without a digit is prose or an identifier from code. A UUID identifies a row and is needed to find it.
const withoutOpaque = (text: string): string =>
  text.replace(OPAQUE, (word) => (UUID.test(word) || !HAS_DIGIT.test(word) ? word : HIDDEN));
