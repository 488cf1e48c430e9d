/** The languages of the owner's page; each has a file of messages in pages/owner/messages. */
export const LOCALES = ['en', 'nl', 'de', 'fr'] as const;
export type Locale = (typeof LOCALES)[number];

/** Browsers send less than 200 characters. */
const MAX_ACCEPT_LANGUAGE_LENGTH = 500;

/** Returns the language that the reader of a page has chosen by `?lang=`, also with a region as in `de-AT`, or null if there is none. */
export function chosenLocale(url: string): Locale | null {
  const [language = ''] = new URLSearchParams(url.split('?', 2)[1]).get('lang')?.split(/[-_]/, 1) ?? [];
  return asLocale(language.toLowerCase())[0] ?? null;
}

/**
 * Returns the language of the page: the language of the invitation, else the first language of Accept-Language that we have, else
 * `otherwise`.
 */
export function localeOf(invited: string | null, acceptLanguage = '', otherwise: Locale = 'en'): Locale {
  const accepted = acceptLanguage
    .slice(0, MAX_ACCEPT_LANGUAGE_LENGTH)
    .split(',')
    .map((part) => {
      const [tag = '', quality = 'q=1'] = part.split(';', 2).map((each) => each.trim());
      return { language: tag.slice(0, 2).toLowerCase(), quality: Number(quality.replace(/^q=/i, '')) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality)
    .map(({ language }) => language);
  return LOCALES.find((locale) => locale === invited) ?? accepted.flatMap(asLocale)[0] ?? otherwise;
}

const asLocale = (language: string) => LOCALES.filter((locale) => locale === language);
