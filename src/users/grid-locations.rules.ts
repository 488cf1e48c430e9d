import type { FieldError } from '../platform/problem/problem.js';
import { hasValidCheckDigit, readEan } from './ean.rules.js';

export type CheckDigitRule = 'off' | 'warn' | 'enforce';

export interface ReadGridLocations {
  /** As text, in the order sent. */
  readonly eans: readonly string[];
  readonly errors: readonly FieldError[];
  /** Indexes of EANs accepted despite a wrong check digit. The EAN itself must not be logged. */
  readonly suspectIndexes: readonly number[];
}

/** Reads grid locations whose EANs are each well formed. Checks for duplicates and, depending on `rule`, the check digits. */
export function readGridLocations(
  gridLocations: readonly { ean: unknown }[],
  rule: CheckDigitRule,
): ReadGridLocations {
  const eans = gridLocations.map(({ ean }) => readEan(ean));
  const wrong =
    rule === 'off' ? [] : [...eans.keys()].filter((index) => !hasValidCheckDigit(eans[index] as string));
  return {
    eans,
    errors: [...duplicates(eans), ...(rule === 'enforce' ? wrong.map(wrongCheckDigit) : [])],
    suspectIndexes: rule === 'warn' ? wrong : [],
  };
}

function duplicates(eans: readonly string[]): FieldError[] {
  const firstIndexes = new Map<string, number>();
  return eans.flatMap((ean, index) => {
    const first = firstIndexes.get(ean);
    if (first !== undefined) return [fieldError(index, `must not repeat gridLocations[${first}].ean`)];
    firstIndexes.set(ean, index);
    return [];
  });
}

const wrongCheckDigit = (index: number): FieldError =>
  fieldError(index, 'must end with its GS1 check digit; one of the digits is mistyped');

const fieldError = (index: number, message: string): FieldError => ({
  field: `gridLocations[${index}].ean`,
  message,
});
