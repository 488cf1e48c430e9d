import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { CONSENT_PARTS, readBrandTexts, type ConsentPart } from '../../platform/env/brand-files.js';
import { Environment } from '../../platform/env/environment.js';
import { LOCALES, type Locale } from '../../platform/env/locale.rules.js';

const FOLDER = new URL('../../../pages/owner/', import.meta.url);

/** Returns the content of a file of the owner's page. */
export const readPageFile = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

/** The version of the texts in pages/owner/messages. It changes when one of them that is part of the consent does. */
const STANDARD_VERSION = 'standard-2';

/** What an owner agrees to by a click. */
export interface ConsentText {
  readonly version: string;
  readonly locale: Locale;
  readonly parts: Readonly<Record<ConsentPart, string>>;
  readonly text: string;
  /** SHA-256 of language and text, in hex. */
  readonly hash: string;
}

type Messages = Readonly<Record<string, string>>;
export type Translate = (key: string, values?: Messages) => string;

/** The sentences of the owner's page in each language, in the tenant's name, and the text to which an owner agrees. */
@Injectable()
export class OwnerTexts {
  private readonly messages = new Map<Locale, Messages>(
    LOCALES.map((locale) => [locale, JSON.parse(readPageFile(`messages/${locale}.json`)) as Messages]),
  );
  private readonly own = this.environment.BRAND_TEXTS_FILE
    ? readBrandTexts(this.environment.BRAND_TEXTS_FILE).value
    : null;
  /** The tenant's words replace ours. */
  private readonly consents = LOCALES.map((locale): ConsentText => {
    const sentence = this.in(locale);
    const own = this.own?.[locale];
    const words = CONSENT_PARTS.map((part) => [part, own?.[part] ?? sentence(part)] as const);
    const parts = Object.fromEntries(words) as ConsentText['parts'];
    const text = words.map(([, each]) => each).join('\n\n');
    const hash = createHash('sha256').update(`${locale}\n${text}`).digest('hex');
    return { version: own ? this.own.version : STANDARD_VERSION, locale, parts, text, hash };
  });

  constructor(private readonly environment: Environment) {}

  /** Returns the name of the tenant, or words in its place. */
  tenantIn(locale: Locale): string {
    return this.environment.BRAND_NAME ?? this.messages.get(locale)!.tenant!;
  }

  /**
   * Returns a function that returns a sentence of this language. If the tenant has no name, it is a sentence of its own (`….unnamed`): words
   * in the place of a name would need an article or a case.
   */
  in(locale: Locale): Translate {
    const messages = this.messages.get(locale)!;
    const { BRAND_NAME } = this.environment;
    const patternOf = (key: string): string =>
      (BRAND_NAME === undefined ? messages[`${key}.unnamed`] : undefined) ?? messages[key]!;
    return (key, values = {}) =>
      patternOf(key).replace(
        /\{(\w+)\}/g,
        (_, name: string) => ({ tenant: this.tenantIn(locale), ...values })[name]!,
      );
  }

  /** Returns the text above the button in this language. */
  consentIn(locale: Locale): ConsentText {
    return this.consents.find((each) => each.locale === locale)!;
  }

  /** Returns the text with this hash, or undefined if it is none of the texts as they are now. */
  consentOf(hash: string): ConsentText | undefined {
    return this.consents.find((each) => each.hash === hash);
  }
}
