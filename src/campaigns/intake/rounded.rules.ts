import type { CheckDigitRule } from '../../users/ean.rules.js';
import { ROUNDED_FORMS, type Look, type RoundedForm } from '../../users/rounded.rules.js';
import { isLongNumber, roundedReference } from '../../users/tenant-reference.rules.js';
import type { ReadRow } from './row.rules.js';

/** The numbers of one form in a column of a file. */
interface OfForm {
  count: number;
  /** How many of these are wrong. */
  wrong: number;
  /** The lines of those that are not wrong. */
  readonly doubtfulLines: number[];
}

/** What is known about the long numbers of one column of a file. */
interface RoundedCounts {
  /** The numbers that could be rounded. */
  long: number;
  /** How many of these look rounded, and how many of those are wrong. */
  looking: number;
  wrong: number;
  /** The first lines with one that looks rounded. */
  readonly firstLines: number[];
  readonly forms: Map<RoundedForm, OfForm>;
}

const noCounts = (): RoundedCounts => ({
  long: 0,
  looking: 0,
  wrong: 0,
  firstLines: [],
  forms: new Map(),
});

const NAMED_LINES = 3;

/** Adds a number of a line to the counts. */
function addLook(counts: RoundedCounts, line: number, { form, isWrong }: Look): void {
  counts.long += 1;
  if (form === undefined) return;
  const { forms, firstLines } = counts;
  const ofForm = forms.get(form) ?? { count: 0, wrong: 0, doubtfulLines: [] };
  forms.set(form, ofForm);
  ofForm.count += 1;
  counts.looking += 1;
  if (isWrong) {
    ofForm.wrong += 1;
    counts.wrong += 1;
  } else ofForm.doubtfulLines.push(line);
  if (firstLines.length < NAMED_LINES && firstLines.at(-1) !== line) firstLines.push(line);
}

/** Returns whether most numbers of a column look rounded. One of them proves nothing, because it may look so by chance. */
const areMostRounded = ({ looking, long }: RoundedCounts): boolean => looking > 1 && looking * 2 > long;

/** Names the programs that write numbers in the forms found. Omits a form that fewer than a tenth have, perhaps by chance. */
const programsOf = ({ forms, looking }: RoundedCounts): string =>
  (Object.keys(ROUNDED_FORMS) as RoundedForm[])
    .filter((form) => (forms.get(form)?.count ?? 0) * 10 >= looking)
    .map((form) => ROUNDED_FORMS[form])
    .join('; ');

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
  if (areMostRounded(eans) && (rule === 'off' || eans.wrong > 0))
    return faultOf('EANs', eans, 'write true in a column eanConfirmed');
  if (areMostRounded(references) && !areReferencesConfirmed)
    return faultOf(
      'references of 16 digits and more',
      references,
      'send the file with referencesConfirmed=true',
    );
  return undefined;
}

/**
 * Returns the lines of a file that is not refused whose EANs are rounded although their check digits fit: most EANs of the same form are
 * wrong, so the form is the sign of the program that wrote them. Of true EANs that have a form by chance, few are wrong.
 */
export const roundedLines = ({ eans }: FileLooks, rule: CheckDigitRule): number[] =>
  rule === 'off'
    ? []
    : [...eans.forms.values()].flatMap(({ count, wrong, doubtfulLines }) =>
        wrong * 2 > count ? doubtfulLines : [],
      );

function faultOf(what: string, counts: RoundedCounts, ifRight: string): string {
  const lines = `${counts.firstLines.length === 1 ? 'line' : 'lines'} ${counts.firstLines.join(', ')}`;
  return (
    `${counts.looking} of ${counts.long} ${what} look rounded, the first on ${lines}, so their last digits are lost. ` +
    `Programs that do this: ${programsOf(counts)}. ` +
    `Take the numbers from your system again, format the column as text before you paste them, and export again. If they are right, ${ifRight}`
  );
}
