import {
  invisibleFault,
  lineFault,
  MANY_MARKS,
  noCustomerFault,
  normaliseReference,
  withoutInvisible,
} from '../platform/spelling.rules.js';
import type { FieldError } from '../platform/problem/problem.js';
import { isShortened, roundedForm, type RoundedForm } from './rounded.rules.js';

export const MAX_REFERENCE_LENGTH = 200;

const SHORTENED =
  'is shortened as in 1.23E+11, or a long number with a fraction, and its last digits are lost: take it from your system again, as a text';

/** A reference as it is stored, or why there is none. */
type ReadReference =
  | { readonly reference: string; readonly isNormalised: boolean }
  | {
      readonly code: 'reference_invalid' | 'reference_rounded';
      readonly fault: string;
      /** The reference that was probably meant. */
      readonly meant: string | null;
    };

/** Reads a reference. All parts of the service compare the form returned here, so references that look the same are one customer. */
export function readTenantReference(value: unknown): ReadReference {
  const read = readStoredReference(value);
  // Otherwise, the rows of several customers would become one customer.
  const noValue = 'fault' in read ? undefined : noCustomerFault(read.reference);
  return noValue === undefined ? read : faulty(noValue);
}

/** Reads a reference of an existing customer, who may have been registered before a sign of a missing value was refused. */
export function readStoredReference(value: unknown): ReadReference {
  if (typeof value !== 'string') return faulty('must be a string');
  const reference = normaliseReference(value);
  if (isShortened(reference)) return { code: 'reference_rounded', fault: SHORTENED, meant: null };
  const fault = invisibleFault(reference) ?? formFault(reference);
  if (fault === undefined) return { reference, isNormalised: reference !== value };
  const meant = normaliseReference(withoutInvisible(reference));
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

/** Returns why `value` is not a tenantReference, else undefined. `read`: how it is read. */
export function tenantReferenceFault(value: unknown, read = readTenantReference): string | undefined {
  const reading = read(value);
  return 'fault' in reading ? reading.fault : undefined;
}

/** Returns the form in which a program may have written a reference after it had rounded it: only a number of 16 digits or more has one. */
export const roundedReference = (reference: string): RoundedForm | undefined =>
  isLongNumber(reference) ? roundedForm(reference) : undefined;

/** Returns whether a program may have read a reference as a number, and written another one: rounded, or as `123.0`. */
export const mayBeRewritten = (reference: string): boolean =>
  roundedReference(reference) !== undefined || /^\d+[.,]0{1,2}$/.test(reference);

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
