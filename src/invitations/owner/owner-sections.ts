import type { InverterBrand } from '../../platform/env/brand-files.js';
import type { Locale } from '../../platform/env/locale.rules.js';
import { inUnits, type OwnerPage, type Step } from './owner-page.rules.js';
import type { Translate } from './owner-texts.service.js';

/** The four steps of an owner, with the minutes that each takes. The last is not the owner's. */
const PROGRESS = [
  { key: 'choose', minutes: 1 },
  { key: 'signIn', minutes: 2 },
  { key: 'allow', minutes: 1 },
  { key: 'wait', minutes: null },
] as const;

const PLACE_OF: Partial<Record<OwnerPage['kind'], number>> = {
  ready: 0,
  next: 0,
  rejected: 0,
  wish: 0,
  started: 1,
  waiting: 3,
  online: PROGRESS.length,
};

/** A duration in words, such as "5 minutes". */
export function durationOf(seconds: number, locale: Locale): string {
  const { amount, unit } = inUnits(seconds);
  return inWords(amount, unit, locale);
}

const inWords = (amount: number, unit: string, locale: Locale): string =>
  new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(amount);

/** Returns the steps of an owner, with the place where the owner is now, or null if the page has no place among them. */
export function progressOf(
  kind: string,
  locale: Locale,
  text: Translate,
  usualWaitSeconds: number | undefined,
  isLate: boolean,
) {
  const place = PLACE_OF[kind as OwnerPage['kind']];
  if (place === undefined) return null;
  const lengthOf = (minutes: number | null): string => {
    if (minutes !== null) return text('progress.about', { duration: inWords(minutes, 'minute', locale) });
    if (isLate) return text('progress.late');
    if (usualWaitSeconds === undefined) return text('progress.nothing');
    return text('progress.most', { duration: durationOf(usualWaitSeconds, locale) });
  };
  const steps = PROGRESS.map(({ key, minutes }, index) => ({
    text: text(`progress.${key}`),
    length: index < place ? text('progress.done') : lengthOf(minutes),
    state: index < place ? 'done' : index === place ? 'now' : 'todo',
  }));
  return { heading: text('progress.heading'), now: text('progress.now'), steps };
}

/** Returns what an owner needs to connect a brand, in this language, or null if the tenant says nothing about it. */
export function brandSectionOf(
  id: string,
  brand: InverterBrand | undefined,
  locale: Locale,
  folder: string,
  text: Translate,
) {
  const words = brand?.[locale];
  if (brand === undefined || (words === undefined && brand.picture === undefined)) return null;
  const { helpUrl, ...notes } = words ?? {};
  const order = ['account', 'login', 'traps'] as const;
  return {
    heading: text('brand.heading', { brand: brand.name }),
    picture: brand.picture && `${folder}brand-picture?brand=${encodeURIComponent(id)}`,
    notes: order.flatMap((name) => {
      const note = notes[name];
      return note === undefined ? [] : [{ heading: text(`brand.${name}`), text: note }];
    }),
    help: helpUrl && { url: helpUrl, text: text('brand.help', { brand: brand.name }) },
  };
}

/** Returns the steps of the brands, for a list. */
export const brandStepsOf = (
  steps: readonly Step[],
  failingBrands: readonly string[],
  nameOf: (brand: string) => string,
  text: Translate,
): object[] =>
  steps.map((step) => {
    const isLeft = step.kind === 'todo' || step.kind === 'started';
    const isFailing = isLeft && failingBrands.some((brand) => brand === step.brand);
    const kind = isFailing ? 'failing' : step.kind;
    return { kind, brand: step.brand === null ? null : nameOf(step.brand), text: text(`step.${kind}`) };
  });
