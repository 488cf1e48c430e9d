import { readFileSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { decodeText } from './environment-files.js';
import { LOCALES, type Locale } from './locale.rules.js';

type InLocales<Field extends string> = Readonly<
  Partial<Record<Locale, Readonly<Partial<Record<Field, string>>>>>
>;

/** The parts of the text above the button of the owner's page, in their order. Each has a heading but the last, which is beside the button. */
export const CONSENT_PARTS = ['why', 'benefit', 'read', 'limit', 'password', 'withdraw', 'consent'] as const;
export type ConsentPart = (typeof CONSENT_PARTS)[number];

/** The tenant's own words on the owner's page. */
type BrandTexts = { readonly version: string } & InLocales<ConsentPart>;

/** What people call a brand of inverters, and what an owner needs to connect one. */
export type InverterBrand = { readonly name: string; readonly picture?: Picture } & InLocales<
  'account' | 'login' | 'traps' | 'helpUrl'
>;

export interface Picture {
  readonly type: string;
  readonly content: Buffer;
}

/** The content of a file, or what is wrong with it. */
interface FileRead<T> {
  readonly value: T | null;
  readonly problems: readonly string[];
}

const MAX_FILE_BYTES = 262_144;
const MAX_PICTURE_BYTES = 102_400;
const MAX_LOGO_BYTES = 1_048_576;
const MAX_TEXT_LENGTH = 1_000;
const MAX_NAME_LENGTH = 60;
const MAX_BRANDS = 500;
const PICTURE_TYPES: Readonly<Record<string, string>> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
};

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown, maxLength: number): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.length <= maxLength;
const isHttpUrl = (value: unknown): boolean =>
  isText(value, MAX_TEXT_LENGTH) && /^https?:\/\//i.test(String(value)) && URL.canParse(String(value));

export function readBrandTexts(path: string): FileRead<BrandTexts> {
  return readJson(path, (json) => {
    const { version, ...locales } = json;
    const problems = isText(version, MAX_NAME_LENGTH)
      ? []
      : [`version must be text of 1 to ${MAX_NAME_LENGTH} characters`];
    problems.push(...localeProblems(locales, '', CONSENT_PARTS));
    return { value: json as BrandTexts, problems };
  });
}

/** Reads INVERTER_BRANDS_FILE, with the pictures that it names. */
export function readInverterBrands(path: string): FileRead<ReadonlyMap<string, InverterBrand>> {
  return readJson(path, (json) => {
    const brands = new Map<string, InverterBrand>();
    const problems = Object.keys(json).length > MAX_BRANDS ? [`must have at most ${MAX_BRANDS} brands`] : [];
    for (const [id, brand] of Object.entries(json)) {
      if (!isObject(brand)) {
        problems.push(`${id} must be an object`);
        continue;
      }
      const { name, picture, ...locales } = brand;
      if (!isText(name, MAX_NAME_LENGTH))
        problems.push(`${id}.name must be text of 1 to ${MAX_NAME_LENGTH} characters`);
      problems.push(...localeProblems(locales, `${id}.`, ['account', 'login', 'traps', 'helpUrl']));
      const read = typeof picture !== 'string' ? undefined : readPicture(resolve(dirname(path), picture));
      if (picture !== undefined && read === undefined) problems.push(`${id}.picture must be text`);
      if (typeof read === 'string') problems.push(`${id}.picture ${read}`);
      else brands.set(id, { name, ...locales, ...(read && { picture: read }) } as InverterBrand);
    }
    return { value: brands, problems };
  });
}

/** Yields what is wrong with the files that the settings name. Each starts with the name of the setting. */
export function* brandFileProblems(files: {
  readonly BRAND_TEXTS_FILE?: string;
  readonly INVERTER_BRANDS_FILE?: string;
  readonly BRAND_LOGO_FILE?: string;
}): Generator<string> {
  const { BRAND_TEXTS_FILE, INVERTER_BRANDS_FILE, BRAND_LOGO_FILE } = files;
  const told = (name: string, problems: readonly string[]) =>
    problems.length === 0 ? [] : [`${name}: ${problems.join('; ')}`];
  if (BRAND_TEXTS_FILE !== undefined)
    yield* told('BRAND_TEXTS_FILE', readBrandTexts(BRAND_TEXTS_FILE).problems);
  if (INVERTER_BRANDS_FILE !== undefined)
    yield* told('INVERTER_BRANDS_FILE', readInverterBrands(INVERTER_BRANDS_FILE).problems);
  if (BRAND_LOGO_FILE === undefined) return;
  const logo = readLogo(BRAND_LOGO_FILE);
  if (typeof logo === 'string') yield `BRAND_LOGO_FILE ${logo}`;
}

function localeProblems(locales: Json, prefix: string, fields: readonly string[]): string[] {
  return Object.entries(locales).flatMap(([locale, texts]) => {
    const at = `${prefix}${locale}`;
    if (!LOCALES.some((each) => each === locale))
      return [`${at} is not known: the languages are ${LOCALES.join(', ')}`];
    if (!isObject(texts)) return [`${at} must be an object`];
    return Object.entries(texts).flatMap(([field, text]) => {
      if (!fields.includes(field))
        return [`${at}.${field} is not known: the fields are ${fields.join(', ')}`];
      if (field === 'helpUrl')
        return isHttpUrl(text) ? [] : [`${at}.${field} must be a URL that begins with http:// or https://`];
      return isText(text, MAX_TEXT_LENGTH)
        ? []
        : [`${at}.${field} must be text of 1 to ${MAX_TEXT_LENGTH} characters`];
    });
  });
}

/** Returns the picture in BRAND_LOGO_FILE, or what is wrong with it. */
export const readLogo = (path: string): Picture | string => readPicture(path, MAX_LOGO_BYTES);

/** Returns the picture, or what is wrong with it. */
function readPicture(path: string, maxBytes = MAX_PICTURE_BYTES): Picture | string {
  const type = PICTURE_TYPES[extname(path).toLowerCase()];
  if (type === undefined) return 'must be a .svg, .png or .webp file';
  try {
    const content = readFileSync(path);
    return content.length > maxBytes ? `must have at most ${maxBytes / 1_024} kB` : { type, content };
  } catch (error) {
    return `cannot be read (${(error as NodeJS.ErrnoException).code})`;
  }
}

function readJson<T>(path: string, check: (json: Json) => FileRead<T>): FileRead<T> {
  const fault = (problem: string): FileRead<T> => ({ value: null, problems: [problem] });
  let text: string;
  try {
    text = decodeText(readFileSync(path));
  } catch (error) {
    return fault(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    return fault(`must have at most ${MAX_FILE_BYTES / 1_024} kB`);
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? check(json) : fault('must be a JSON object');
  } catch (error) {
    return fault(`is not JSON: ${(error as Error).message}`);
  }
}
