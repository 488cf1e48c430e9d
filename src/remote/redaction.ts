/** Text of the remote service may quote what it was sent. Whatever is shown, logged or stored of it passes through here. */

const DEFAULT_LENGTH = 300;
/** Patterns run over no more than this much of a text; the rest would be cut off anyway. */
const EXAMINED_LENGTH = 8_192;
/** A shorter configured value (a scope, a test's "x") would blank out ordinary words. */
const SHORTEST_SECRET = 6;
/** Tokens come and go; old ones have expired by the time they are forgotten. */
const REMEMBERED_TOKENS = 16;

const HIDDEN = '[redacted]';

/** Errors arise in pure code, where nothing is injected, so what must never be shown is known to the whole process. */
const secrets = new Set<string>();
const tokens: string[] = [];

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[^\s"',;<>]+/gi, `$1 ${HIDDEN}`],
  [
    /\b(access_token|refresh_token|client_secret|client_id|api_?key|startUrl)(["']?\s*[:=]\s*["']?)[^\s"'&,;<>}]+/gi,
    `$1$2${HIDDEN}`,
  ],
  // The path of a URL may be a capability: a startUrl is {onboarding_url}/pv-onboarding/<token> (interface section 2.5).
  [/\b(https?:(?:\\?\/){2}[^\s"'<>\\/?#]+)[^\s"'<>]*/gi, `$1/${HIDDEN}`],
  [/(pv-onboarding(?:\\?\/|%2F))[^\s"'<>]+/gi, `$1${HIDDEN}`],
  [/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[email]'],
  [/(?<!\d)\d{18}(?!\d)/g, '[ean]'],
  // Long opaque runs are tokens more often than words; an id (UUID) is neither.
  [/(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w+/=-]))(?<![\w+/=-])[\w+/=-]{32,}/gi, HIDDEN],
];

/** Names values that `redact` must remove wherever it meets them: the configured credentials. */
export function hideSecrets(values: readonly string[]): void {
  for (const value of values)
    if (value.length >= SHORTEST_SECRET) for (const form of formsOf(value)) secrets.add(form);
}

/** Names a token that `redact` must remove for as long as it may be in use. */
export function hideToken(value: string): void {
  if (tokens.includes(value)) return;
  tokens.push(value);
  if (tokens.length > REMEMBERED_TOKENS) tokens.shift();
}

/** One line without secrets, addresses, EANs and control characters, of at most `maxLength` characters. */
export function redact(text: string, maxLength: number = DEFAULT_LENGTH): string {
  let safe = text;
  if (text.length > EXAMINED_LENGTH) {
    // Half a secret at the cut would not be recognised: drop the unfinished word.
    safe = text.slice(0, EXAMINED_LENGTH).replace(/\S*$/, '');
  }
  for (const secret of [...secrets, ...tokens]) safe = safe.replaceAll(secret, HIDDEN);
  for (const [pattern, replacement] of PATTERNS) safe = safe.replace(pattern, replacement);
  safe = safe.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ').trim();
  return safe.length <= maxLength ? safe : `${safe.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function formsOf(value: string): Set<string> {
  return new Set([
    value,
    encodeURIComponent(value),
    new URLSearchParams({ v: value }).toString().slice(2),
    JSON.stringify(value).slice(1, -1),
    Buffer.from(value).toString('base64'),
  ]);
}
