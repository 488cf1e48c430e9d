import { HIDDEN, withoutSecrets } from './secrets.js';

const DEFAULT_LENGTH = 300;
/** Patterns run over no more than this much of a text; the rest would be cut off anyway. */
const EXAMINED_LENGTH = 8_192;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[^\s"',;<>]+/gi, `$1 ${HIDDEN}`],
  [
    /\b(access_token|refresh_token|client_secret|client_id|api_?key|startUrl)(["']?\s*[:=]\s*["']?)[^\s"'&,;<>}]+/gi,
    `$1$2${HIDDEN}`,
  ],
  // Of an address only the host stays. Its path may be a capability: a startUrl is {onboarding_url}/pv-onboarding/<token> (interface
  // section 2.5); what stands before the host may be a password or a token.
  [
    /\b([a-z][a-z0-9+.-]{1,20}:(?:\\?\/){2})(?:[^\s"'<>\\/?#]*@)?([^\s"'<>\\/?#]+)[^\s"'<>]*/gi,
    `$1$2/${HIDDEN}`,
  ],
  [/(pv-onboarding(?:\\?\/|%2F))[^\s"'<>]+/gi, `$1${HIDDEN}`],
  [/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[email]'],
  [/(?<!\d)\d{18}(?!\d)/g, '[ean]'],
  // Long opaque runs are tokens more often than words; an id (UUID) is neither.
  [/(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w+/=-]))(?<![\w+/=-])[\w+/=-]{32,}/gi, HIDDEN],
];

/**
 * For text that others wrote, such as an answer of the remote service, which may quote what it was sent: beyond our secrets it may
 * hold theirs, and people's data. Answers one line without either and without control characters, of at most `maxLength` characters.
 */
export function redact(text: string, maxLength: number = DEFAULT_LENGTH): string {
  let safe = text;
  if (text.length > EXAMINED_LENGTH) {
    // Half a secret at the cut would not be recognised: drop the unfinished word.
    safe = text.slice(0, EXAMINED_LENGTH).replace(/\S*$/, '');
  }
  safe = withoutSecrets(safe);
  for (const [pattern, replacement] of PATTERNS) safe = safe.replace(pattern, replacement);
  safe = safe.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ').trim();
  return safe.length <= maxLength ? safe : `${safe.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
