import { HIDDEN, withoutSecrets } from './secrets.js';

const DEFAULT_LENGTH = 300;
/** Patterns examine only this much of a text; the rest would be cut off anyway. */
const EXAMINED_LENGTH = 8_192;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[^\s"',;<>]+/gi, `$1 ${HIDDEN}`],
  [
    /\b(access_token|refresh_token|client_secret|client_id|api_?key|startUrl)(["']?\s*[:=]\s*["']?)[^\s"'&,;<>}]+/gi,
    `$1$2${HIDDEN}`,
  ],
  // Of a URL only the host is kept. Its path may be a capability: a startUrl is {onboarding_url}/pv-onboarding/<token> (interface section
  // 2.5). The part before the host may be a password or a token.
  [
    /\b([a-z][a-z0-9+.-]{1,20}:(?:\\?\/){2})(?:[^\s"'<>\\/?#]*@)?([^\s"'<>\\/?#]+)[^\s"'<>]*/gi,
    `$1$2/${HIDDEN}`,
  ],
  [/(pv-onboarding(?:\\?\/|%2F))[^\s"'<>]+/gi, `$1${HIDDEN}`],
  [/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[email]'],
  [/(?<!\d)\d{18}(?!\d)/g, '[ean]'],
  // Long opaque runs are more often tokens than words; a UUID is neither.
  [/(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w+/=-]))(?<![\w+/=-])[\w+/=-]{32,}/gi, HIDDEN],
];

/**
 * Redacts text written by others, such as a response of the remote service, which may quote our request: besides our secrets it may contain
 * theirs and personal data. Returns one line without these and without control characters, of at most `maxLength` characters.
 */
export function redact(text: string, maxLength: number = DEFAULT_LENGTH): string {
  let safe = text;
  if (text.length > EXAMINED_LENGTH) {
    // A secret cut in half would not be recognised, so the incomplete word is dropped.
    safe = text.slice(0, EXAMINED_LENGTH).replace(/\S*$/, '');
  }
  safe = withoutSecrets(safe);
  for (const [pattern, replacement] of PATTERNS) safe = safe.replace(pattern, replacement);
  safe = safe.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ').trim();
  return safe.length <= maxLength ? safe : `${safe.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
