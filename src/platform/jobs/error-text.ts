const LONGEST = 300;

// What a message of a foreign error may carry: an address with a token in it, a bearer token or key, an 18-digit EAN.
const ADDRESS = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const OPAQUE = /[A-Za-z0-9_+/=.~-]{18,}/g;
const HAS_DIGIT = /\d/;

/** An error as it may stand in a log or a table: its name and the first line of its message, short, without what may be secret. */
export function errorText(error: unknown): string {
  const name = error instanceof Error ? error.name : typeof error;
  const message = error instanceof Error ? error.message : '';
  const [line = ''] = message.split('\n', 1);
  return `${name}: ${redact(line)}`.slice(0, LONGEST);
}

// A word without a digit is prose or an identifier from code; a UUID names a row and is needed to find it.
const redact = (text: string): string =>
  text
    .replace(ADDRESS, '[address]')
    .replace(OPAQUE, (word) => (UUID.test(word) || !HAS_DIGIT.test(word) ? word : '[redacted]'));
