import { ROUNDED_FORMS, type Look, type RoundedForm } from '../../users/rounded.rules.js';

/** The numbers of one form in a column of a file. */
interface OfForm {
  count: number;
  /** How many of these are wrong. */
  wrong: number;
  /** The lines of those that are not wrong. */
  readonly doubtfulLines: number[];
}

/** What is known about the long numbers of one column of a file. */
export interface RoundedCounts {
  /** The numbers that could be rounded. */
  long: number;
  /** The first lines with one that looks rounded. */
  readonly firstLines: number[];
  readonly forms: Map<RoundedForm, OfForm>;
}

export const noCounts = (): RoundedCounts => ({ long: 0, firstLines: [], forms: new Map() });

const NAMED_LINES = 3;

/** Adds a number of a line to the counts. */
export function addLook(counts: RoundedCounts, line: number, { form, isWrong }: Look): void {
  counts.long += 1;
  if (form === undefined) return;
  const { forms, firstLines } = counts;
  const ofForm = forms.get(form) ?? { count: 0, wrong: 0, doubtfulLines: [] };
  forms.set(form, ofForm);
  ofForm.count += 1;
  if (isWrong) ofForm.wrong += 1;
  else ofForm.doubtfulLines.push(line);
  if (firstLines.length < NAMED_LINES && firstLines.at(-1) !== line) firstLines.push(line);
}

const sum = ({ forms }: RoundedCounts, of: (ofForm: OfForm) => number): number =>
  [...forms.values()].reduce((total, each) => total + of(each), 0);

/** Returns how many numbers of a column look rounded. */
export const countLooking = (counts: RoundedCounts): number => sum(counts, ({ count }) => count);

export const countWrong = (counts: RoundedCounts): number => sum(counts, ({ wrong }) => wrong);

/** Returns whether most numbers of a column look rounded. One of them proves nothing, because it may look so by chance. */
export function areMostRounded(counts: RoundedCounts): boolean {
  const looking = countLooking(counts);
  return looking > 1 && looking * 2 > counts.long;
}

/**
 * Returns the lines of numbers that are rounded although they are not wrong: most numbers of the same form are wrong, so the form is the
 * sign of the program that wrote them. Of true numbers that have a form by chance, few are wrong.
 */
export const doubtfulLines = ({ forms }: RoundedCounts): number[] =>
  [...forms.values()].flatMap(({ count, wrong, doubtfulLines: lines }) => (wrong * 2 > count ? lines : []));

/** Names the programs that write numbers in the forms found. Omits a form that fewer than a tenth have, perhaps by chance. */
export function programsOf(counts: RoundedCounts): string {
  const looking = countLooking(counts);
  return (Object.keys(ROUNDED_FORMS) as RoundedForm[])
    .filter((form) => (counts.forms.get(form)?.count ?? 0) * 10 >= looking)
    .map((form) => ROUNDED_FORMS[form])
    .join('; ');
}
