import { createHash } from 'node:crypto';
import { CONSENT_PARTS, type ConsentPart } from '../../platform/env/brand-files.js';
import type { Locale } from '../../platform/env/locale.rules.js';

/** The version of the texts in pages/owner/messages. It changes when one of them that is part of the consent does. */
export const STANDARD_VERSION = 'standard-2';

/** What an owner agrees to by a click. */
export interface ConsentText {
  readonly version: string;
  readonly locale: Locale;
  readonly parts: Readonly<Record<ConsentPart, string>>;
  readonly text: string;
  /** SHA-256 of language and text, in hex. */
  readonly hash: string;
}

/** Returns the text above the button. `own`: the tenant's words, which replace ours. */
export function consentTextOf(
  locale: Locale,
  ours: ConsentText['parts'],
  own: (Partial<ConsentText['parts']> & { readonly version: string }) | undefined,
): ConsentText {
  const { version = STANDARD_VERSION, ...words } = own ?? {};
  const parts = { ...ours, ...words };
  const text = CONSENT_PARTS.map((part) => parts[part]).join('\n\n');
  const hash = createHash('sha256').update(`${locale}\n${text}`).digest('hex');
  return { version, locale, parts, text, hash };
}
