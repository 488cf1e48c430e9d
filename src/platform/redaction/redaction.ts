import { HIDDEN, withoutSecrets } from './secrets.js';

/** Patterns examine only this many characters of a text, because the rest would be cut off anyway. */
const EXAMINED_LENGTH = 8_192;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[^\s"',;<>]+/gi, `$1 ${HIDDEN}`],
  [
    /\b(access_token|refresh_token|client_secret|client_id|api_?key|startUrl)(["']?\s*[:=]\s*["']?)[^\s"'&,;<>}]+/gi,
    `$1$2${HIDDEN}`,
  ],
  // Keeps only scheme and host of a URL. The path may be a capability: a startUrl is {onboarding_url}/pv-onboarding/<token> (interface
  // section 2.5). The part before the host may be a password or a token.
  [
    /\b([a-z][a-z0-9+.-]{1,20}:(?:\\?\/){2})(?:[^\s"'<>\\/?#@]*@)*([^\s"'<>\\/?#@]+)(?:[\\/?#][^\s"'<>]*)?/gi,
    `$1$2/${HIDDEN}`,
  ],
  [/(pv-onboarding(?:\\?\/|%2F))[^\s"'<>]+/gi, `$1${HIDDEN}`],
  [/(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[email]'],
  [/(?<!\d)\d{18}(?!\d)/g, '[ean]'],
  // Hides long opaque words, which are probably tokens, but neither UUIDs nor codes such as ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED.
  [
    /(?<![\w+/=-])(?!(?:[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}|[A-Z]{1,15}\d{0,2}(?:_[A-Z]{1,15}\d{0,2})+)(?![\w+/=-]))[\w+/=-]{32,}/g,
    HIDDEN,
  ],
];

/** Returns text written by others as one line of at most `maxLength` characters, without secrets, personal data or control characters. */
export function redact(text: string, maxLength = 300): string {
  // A secret cut in half would not be recognised, so the incomplete word is dropped.
  const examined =
    text.length > EXAMINED_LENGTH ? text.slice(0, EXAMINED_LENGTH).replace(/(?<!\S)\S*$/, '') : text;
  let safe = withoutSecrets(examined);
  for (const [pattern, replacement] of PATTERNS) safe = safe.replace(pattern, replacement);
  safe = safe.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ').trim();
  return safe.length <= maxLength ? safe : `${safe.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
