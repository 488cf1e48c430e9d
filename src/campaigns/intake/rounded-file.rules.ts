import type { CheckDigitRule } from '../../users/ean.rules.js';
import { isLongNumber, roundedReference } from '../../users/tenant-reference.rules.js';
import {
  addLook,
  areMostRounded,
  countLooking,
  countWrong,
  doubtfulLines,
  noCounts,
  programsOf,
  type RoundedCounts,
} from './rounded-column.rules.js';
import type { ReadRow } from './row.rules.js';

/**
 * What the long numbers of a file look like. The file is read once, row by row. Only these counts stay in memory, and the numbers of the
 * lines that look rounded.
 */
interface FileLooks {
  readonly eans: RoundedCounts;
  readonly references: RoundedCounts;
}

export const noLooks = (): FileLooks => ({ eans: noCounts(), references: noCounts() });

export function addRow({ eans, references }: FileLooks, row: ReadRow): void {
  const { line, looks, tenantReference, problems } = row;
  for (const look of looks) addLook(eans, line, look);
  const isShortened = tenantReference === null && problems.some(({ code }) => code === 'reference_rounded');
  if (isShortened) addLook(references, line, { form: 'exponent', isWrong: true });
  else if (tenantReference !== null && isLongNumber(tenantReference))
    addLook(references, line, { form: roundedReference(tenantReference), isWrong: false });
}

/**
 * Returns why the whole file is refused, else undefined: a program has rounded most of its EANs or references. Unless the rule is `off`,
 * one of these EANs must have a wrong check digit, because the check digit of a true EAN is right.
 */
export function roundedFileFault(
  { eans, references }: FileLooks,
  rule: CheckDigitRule,
  areReferencesConfirmed: boolean,
): string | undefined {
  if (areMostRounded(eans) && (rule === 'off' || countWrong(eans) > 0))
    return faultOf('EANs', eans, 'write true in a column eanConfirmed');
  if (areMostRounded(references) && !areReferencesConfirmed)
    return faultOf(
      'references of 16 digits and more',
      references,
      'send the file with referencesConfirmed=true',
    );
  return undefined;
}

/** Returns the lines of a file that is not refused whose EANs are rounded although their check digits fit. */
export const roundedLines = ({ eans }: FileLooks, rule: CheckDigitRule): number[] =>
  rule === 'off' ? [] : doubtfulLines(eans);

function faultOf(what: string, counts: RoundedCounts, ifRight: string): string {
  const lines = `${counts.firstLines.length === 1 ? 'line' : 'lines'} ${counts.firstLines.join(', ')}`;
  return (
    `${countLooking(counts)} of ${counts.long} ${what} look rounded, the first on ${lines}, so their last digits are lost. ` +
    `Programs that do this: ${programsOf(counts)}. ` +
    `Take the numbers from your system again, format the column as text before you paste them, and export again. If they are right, ${ifRight}`
  );
}
