import { MANY_MARKS, normaliseReference } from '../platform/spelling.rules.js';
import type { FieldError } from '../platform/problem/problem.js';
import { isShortened, roundedForm, type RoundedForm } from './rounded.rules.js';

export const MAX_REFERENCE_LENGTH = 200;
const CONTROL_CHARACTER = /[\p{Cc}\u2028\u2029]/u;
const BLANK_AT_AN_END = /^\s|\s$/u;
/**
 * Matches a character that nobody sees or that changes the direction of text. The last two are a pattern of Braille and a note: both blank.
 */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800\u{1d159}]/u;

/**
 * Matches the errors of spreadsheets in four languages, a number in a column that is too narrow, and what programs make of a missing value.
 */
const NO_VALUE =
  /^(?:#(?:n\/a|n\/b|nv|ref!|verw!|bezug!|value!|waarde!|wert!|valeur!|name\?|naam\?|nom\?|num!|getal!|zahl!|nombre!|null!|leeg!|nul!|div\/0!|deel\/0!|error!|spill!|calc!)|err:\d{3}|#{2,}|\[object object\]|undefined|null|none|nan|nat|<na>)$/i;

const NO_VALUE_FAULT =
  'is what a program writes where it has no value, such as #N/A: take it from your system again';

const SHORTENED =
  'is shortened as in 1.23E+11, or a long number with a fraction, and its last digits are lost: take it from your system again, as a text';

/** A reference as it is stored, or why there is none. */
export type ReadReference =
  | { readonly reference: string; readonly isNormalised: boolean }
  | {
      readonly code: 'reference_invalid' | 'reference_rounded';
      readonly fault: string;
      /** The reference that was probably meant. */
      readonly meant: string | null;
    };

/**
 * Reads a reference. All parts of the service store and compare the form that this function returns, so that references that look the same
 * are one customer.
 */
export function readTenantReference(value: unknown): ReadReference {
  if (typeof value !== 'string') return faulty('must be a string');
  const reference = normaliseReference(value);
  if (isShortened(reference)) return { code: 'reference_rounded', fault: SHORTENED, meant: null };
  // Otherwise, the rows of several customers would become one customer.
  if (NO_VALUE.test(reference)) return faulty(NO_VALUE_FAULT);
  const fault = invisibleFault(reference) ?? formFault(reference);
  if (fault === undefined) return { reference, isNormalised: reference !== value };
  const meant = normaliseReference([...reference].filter((each) => !INVISIBLE.test(each)).join(''));
  return faulty(fault, formFault(meant) === undefined ? meant : null);
}

const formFault = (text: string): string | undefined =>
  MANY_MARKS.test(text)
    ? 'must not have more than 30 marks on one letter'
    : lineFault(text, MAX_REFERENCE_LENGTH);

const faulty = (fault: string, meant: string | null = null): ReadReference => ({
  code: 'reference_invalid',
  fault,
  meant,
});

/** Returns why `value` is not a tenantReference, else undefined. */
export function tenantReferenceFault(value: unknown): string | undefined {
  const read = readTenantReference(value);
  return 'fault' in read ? read.fault : undefined;
}

/** Returns the form in which a program may have written a reference after it had rounded it: only a number of 16 digits or more has one. */
export const roundedReference = (reference: string): RoundedForm | undefined =>
  isLongNumber(reference) ? roundedForm(reference) : undefined;

/** Returns whether a program may have read a reference as a number, and written another one: rounded, or as `123.0`. */
export const mayBeRewritten = (reference: string): boolean =>
  roundedReference(reference) !== undefined || /^\d+[.,]0$/.test(reference);

export const isLongNumber = (reference: string): boolean => /^[1-9]\d{15,}$/.test(reference);

export const REFERENCE_WARNINGS = ['reference_normalised', 'reference_alike', 'reference_rounded'] as const;
type ReferenceWarning = FieldError & { readonly code: (typeof REFERENCE_WARNINGS)[number] };

/** Returns the warnings about an accepted reference. `alike`: the number of other references that look like it. */
export function warnOfReference(reference: string, isNormalised: boolean, alike: number): ReferenceWarning[] {
  const warnings: Partial<Record<ReferenceWarning['code'], string>> = {
    ...(isNormalised && {
      reference_normalised:
        'is stored in another form: composed (NFC), without blanks at its ends and the apostrophe of Excel',
    }),
    ...(alike > 0 && {
      reference_alike: `${alike} other ${alike === 1 ? 'tenantReference looks' : 'tenantReferences look'} like this one`,
    }),
    ...(mayBeRewritten(reference) && {
      reference_rounded: 'looks rounded by a program: compare its last digits with your system',
    }),
  };
  return (Object.entries(warnings) as [ReferenceWarning['code'], string][]).map(([code, message]) => ({
    field: 'tenantReference',
    code,
    message,
  }));
}

/** Returns why `value` is not one line of 1 to `maxLength` characters, else undefined. */
export function lineFault(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length === 0 || value.length > maxLength)
    return `must have 1 to ${maxLength} characters, not ${value.length}`;
  if (CONTROL_CHARACTER.test(value)) return 'must not contain control characters or line breaks';
  if (!value.isWellFormed()) return 'must not contain half a surrogate pair';
  if (BLANK_AT_AN_END.test(value)) return 'must not begin or end with a blank';
  return undefined;
}

/** Names the first character of a text that nobody sees. Returns undefined if there is none. */
export function invisibleFault(text: string): string | undefined {
  const [character] = INVISIBLE.exec(text) ?? [];
  if (character === undefined) return undefined;
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return `contains a character that nobody sees (U+${code}): type it again`;
}
