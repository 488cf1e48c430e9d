import { isUuid } from '../uuid.rules.js';
import { redact } from './redaction.js';
import { HIDDEN } from './secrets.js';

/** Matches long words that may be secrets but are too short for `redact`. An error of a library or a handler may quote any secret. */
const OPAQUE = /[A-Za-z0-9_+/=.~-]{18,}/g;

/** Returns the name of an error of unknown origin and the line of its message that has the cause, shortened and without possible secrets. */
export function errorText(error: unknown): string {
  const { name, message } = error instanceof Error ? error : { name: typeof error, message: '' };
  // A message of Prisma begins with an empty line and quotes the call; its last line is the cause.
  const line = message.split('\n').at(message.startsWith('\n') ? -1 : 0) ?? '';
  // A word without a digit is prose or an identifier from code. A UUID identifies a row and is needed to find it.
  const safe = redact(line).replace(OPAQUE, (word) => (isUuid(word) || !/\d/.test(word) ? word : HIDDEN));
  return `${name}: ${safe}`.slice(0, 300);
}
