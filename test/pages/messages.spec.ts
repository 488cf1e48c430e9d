import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { LOCALES } from '../../src/platform/env/locale.rules.js';

const messagesOf = async (locale: string) =>
  JSON.parse(await readFile(`pages/owner/messages/${locale}.json`, 'utf8')) as Record<string, string>;
const placeholdersOf = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

describe('the messages of the owner’s page', () => {
  it.each(LOCALES)('are complete in %s, with the placeholders of the others', async (locale) => {
    const [own, english] = await Promise.all([messagesOf(locale), messagesOf('en')]);
    expect(Object.keys(own)).toEqual(Object.keys(english));
    for (const [key, text] of Object.entries(english))
      expect([key, ...placeholdersOf(own[key]!)]).toEqual([key, ...placeholdersOf(text)]);
  });

  it('leave out no vowel in French before a name, which may begin with one', async () => {
    const elided = Object.entries(await messagesOf('fr')).filter(([, text]) =>
      /\b(?:de|que|le|la|jusque) \{/i.test(text),
    );
    expect(elided).toEqual([]);
  });

  it.each(LOCALES)(
    'have a sentence of its own in %s for each that names the tenant, who may have no name',
    async (locale) => {
      for (const [key, text] of Object.entries(await messagesOf(locale)).filter(([, each]) =>
        each.includes('{tenant}'),
      )) {
        const unnamed = (await messagesOf(locale))[`${key}.unnamed`] ?? '{tenant}';
        expect([key, ...placeholdersOf(unnamed)]).toEqual([
          key,
          ...placeholdersOf(text.replaceAll('{tenant}', '')),
        ]);
      }
    },
  );
});
