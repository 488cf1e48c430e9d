import { DECLINE_REASONS, type DeclineReason, type InvitationFacts } from '../invitation.rules.js';

/** The progress of the owner with one brand; `brand` is null if the invitation names none. */
export interface Step {
  readonly brand: string | null;
  /** Who is waited for: the owner (`todo`, `started`), the installation (`waiting`), or nobody. */
  readonly kind: 'todo' | 'started' | 'waiting' | 'online';
  /** Whether a session has expired after its owner was done, and may still come online. */
  readonly isLate: boolean;
}

/** The content of the owner's page, by kind. */
export type OwnerPage =
  | {
      readonly kind: 'ready' | 'started' | 'next' | 'rejected';
      readonly steps: readonly Step[];
      readonly brand: string | null;
    }
  /** `brand`: a brand whose session has expired, and which the owner may begin again. */
  | { readonly kind: 'waiting'; readonly steps: readonly Step[]; readonly brand?: string | null }
  /** `wished`: the brand of which the owner waits for the start, if the click named one. */
  | { readonly kind: 'wish'; readonly steps: readonly Step[]; readonly wished: string | null }
  /** A click takes it back, and begins with `brand`. */
  | {
      readonly kind: 'declined';
      readonly steps: readonly Step[];
      readonly brand: string | null;
      readonly reason: DeclineReason | null;
    }
  /** The owner has withdrawn the consent. A click on the button for `brand` gives it again. */
  | { readonly kind: 'withdrawn'; readonly steps: readonly Step[]; readonly brand: string | null }
  /** `renewal`: the link no longer works, and its owner has asked for a new one within a day. */
  | { readonly kind: 'online' | 'expired' | 'renewal' | 'revoked' | 'erased' };

type Invited = Pick<
  InvitationFacts,
  | 'state'
  | 'brands'
  | 'erasedAt'
  | 'wishDueAt'
  | 'wishFailedAt'
  | 'declineReason'
  | 'consentWithdrawnAt'
  | 'isReplaced'
  | 'renewalRequestedAt'
> & { readonly wishBrand: string | null };

/** A request for a new link counts for this time. A repetition within it does nothing. */
export const RENEWAL_COUNTS_MS = 86_400_000;

/** Returns whether the request of the owner for a new link still counts. */
const isRenewalRequested = ({ renewalRequestedAt }: Invited, now: Date): boolean =>
  renewalRequestedAt !== null && now.getTime() - renewalRequestedAt.getTime() < RENEWAL_COUNTS_MS;

/** Returns the page of an invitation. `steps`: those of its brands. An owner begins with a brand that does not fail, if one is left. */
export function planOwnerPage(
  invitation: Invited,
  steps: readonly Step[],
  now: Date,
  failingBrands: readonly string[],
): OwnerPage {
  const { state, brands, erasedAt, wishDueAt, wishBrand, wishFailedAt, declineReason, isReplaced } =
    invitation;
  const isWithdrawn = invitation.consentWithdrawnAt !== null;
  if (erasedAt !== null) return { kind: 'erased' };
  if (state === 'expired' || (state === 'declined' && isReplaced))
    return { kind: isRenewalRequested(invitation, now) ? 'renewal' : 'expired' };
  if (state === 'revoked') return { kind: state };
  const left = steps.filter(({ kind }) => kind === 'todo' || kind === 'started');
  const next = left.find(({ brand }) => brand === null || !failingBrands.includes(brand)) ?? left[0];
  const again = { steps, brand: (next ?? steps[0])?.brand ?? null };
  if (isWithdrawn && (state === 'online' || (state === 'declined' && declineReason === null)))
    return { kind: 'withdrawn', ...again };
  // All brands may be online before the state of the invitation is updated.
  if (state === 'online' || steps.every(({ kind }) => kind === 'online')) return { kind: 'online' };
  if (state === 'declined') return { kind: state, ...again, reason: declineReason };
  if (wishDueAt !== null) return { kind: 'wish', steps, wished: wishBrand };
  if (next === undefined) {
    const late = steps.find(({ kind, isLate }) => kind === 'waiting' && isLate);
    return { kind: 'waiting', steps, ...(late && { brand: brands.length > 0 ? late.brand : null }) };
  }
  if (wishFailedAt !== null) return { kind: 'rejected', steps, brand: next.brand };
  if (next.kind === 'started') return { kind: 'started', steps, brand: next.brand };
  const isFirst = steps.every(({ kind }) => kind === 'todo');
  return { kind: isFirst ? 'ready' : 'next', steps, brand: next.brand };
}

/** Returns the reason that a form has sent, or null if it has sent none. Returns undefined if it is not a reason that we know. */
export function declineReasonOf(given: unknown): DeclineReason | null | undefined {
  if (given === undefined || given === '') return null;
  return DECLINE_REASONS.find((reason) => reason === given);
}

/** Returns the longest usual wait of the awaited brands, in seconds, or undefined if the wait of one brand is unknown. */
export function usualWaitOf(
  steps: readonly Pick<Step, 'brand' | 'kind'>[],
  secondsOf: (brand: string | null) => number | undefined,
) {
  const waits = steps.filter(({ kind }) => kind === 'waiting').map(({ brand }) => secondsOf(brand) ?? NaN);
  const longest = Math.max(...waits);
  return Number.isFinite(longest) ? longest : undefined;
}

/** Returns a wait in whole units that a person would name, rounded up. */
export function inUnits(seconds: number): { amount: number; unit: 'minute' | 'hour' | 'day' } {
  if (seconds <= 90 * 60) return { amount: 5 * Math.ceil(seconds / 300), unit: 'minute' };
  if (seconds <= 48 * 3_600) return { amount: Math.ceil(seconds / 3_600), unit: 'hour' };
  return { amount: Math.ceil(seconds / 86_400), unit: 'day' };
}

/** Returns whether a POST comes from our own page. Accepts a request without Sec-Fetch-Site and Origin, which very old browsers send. */
export function isFromOwnPage(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  origins: readonly string[],
): boolean {
  const { 'sec-fetch-site': site, origin } = headers;
  if (site !== undefined) return site === 'same-origin';
  // Our referrer policy makes browsers send `null` as the Origin.
  return origin === undefined || origin === 'null' || origins.includes(String(origin));
}

/**
 * Matches what programs write into the middle of a link: entities and line breaks of HTML, the quote marks of a reply, the backslash of
 * Markdown before `_` (which a browser sends as `/`), `+` for a blank, and all that is not visible ASCII.
 */
const MARKS =
  /&(?:#x?[\da-f]{1,6}|[a-z]{1,20});|<w?br ?\/?>|[>|]{0,3}\s[\s>|]*|(?<!(?:^|\/)i)\/(?=_)|[^!-*,-<>-[\]-~]/gi;
/** Matches the dashes, in characters, entities of HTML or bytes of UTF-8, that programs write for the hyphen of a token. */
const DASHES =
  /&#(?:x201[0-5]|82(?:08|09|1[0-3]));|&(?:hyphen|dash|[mn]dash|minus);|[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]|\xe2\x80[\x90-\x95]|\xe2\x88\x92|\xef\xb9[\x98\xa3]|\xef\xbc\x8d/gi;
/** An escape of a URL or of quoted-printable. */
const ESCAPE = /[=%]([\da-f]{2})/gi;
/** A program that forwards a mail may escape a link once more, so the text is unescaped this many times. */
const MOST_READINGS = 4;

/**
 * Returns the possible tokens in a text, without the marks within them and the text around them. A text with escapes can be read in several
 * ways: `=20` is a blank, or the characters 20 of the token after `=` and a lost line break.
 */
export function tokensIn(text: string): string[] {
  const tokens = new Set<string>();
  for (let reading = text, count = 0; count < MOST_READINGS; count++) {
    // A dash stands for a hyphen or several, or was added at the end of a line.
    for (const hyphen of ['-', '--', '---', ''])
      for (const token of tokensOfRun(reading.replace(DASHES, hyphen).replace(MARKS, ''))) tokens.add(token);
    reading = reading.replace(ESCAPE, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  }
  return [...tokens];
}

const LENGTH = 43;

/** Returns the possible tokens in the first long run of their letters: up to three for emphasis, or the hyphen of a wrap, may be added. */
function tokensOfRun(text: string): string[] {
  const [run = ''] = /[\w-]{43,46}/.exec(text) ?? [];
  const [emphasis = ''] = /^[-_]{0,3}/.exec(run) ?? [];
  const hyphens = [...run.slice(0, LENGTH).matchAll(/-/g)].slice(0, 3);
  const readings = [
    run,
    ...Array.from(emphasis, (_, index) => run.slice(index + 1)),
    ...hyphens.map(({ index }) => run.slice(0, index) + run.slice(index + 1)),
  ];
  return readings.map((each) => each.slice(0, LENGTH)).filter(({ length }) => length === LENGTH);
}

/** The most parts of a path that a link can have gained. */
const MAX_EXTRA_PARTS = 8;

/** Returns the address of the folder `/i/` relative to a URL in it, or null if the path of the URL has too many parts. */
export function folderFrom(url: string): string | null {
  // A proxy may send the whole URL (RFC 9112, section 3.2.2).
  const [path = ''] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1);
  const extra = path.split('/', MAX_EXTRA_PARTS + 4).length - 3;
  if (extra > MAX_EXTRA_PARTS) return null;
  return extra < 0 ? 'i/' : '../'.repeat(extra);
}
