/** What a benchmark leaves behind in bench/results/NAME.json; docs/performance.md is drawn from it and from nothing else. */
export interface BenchResult {
  readonly benchmark: string;
  readonly title: string;
  /** How much was measured, in words, so that a look with --quick is not taken for a result. */
  readonly extent: string;
  readonly isLook: boolean;
  readonly control: Control;
  readonly targets: readonly Target[];
  readonly tables: readonly ResultTable[];
  readonly machine: Readonly<Record<string, string | number>>;
  readonly versions: Readonly<Record<string, string>>;
  /** What whoever looks for the cause of a figure needs: statements with their times, samples. */
  readonly details?: object;
}

export interface Control {
  readonly ratio: number;
  readonly least: number;
  readonly most: number;
  /** False: the machine was not quiet enough, and the run says nothing. */
  readonly isValid: boolean;
}

export interface Target {
  readonly says: string;
  readonly bound: 'at least' | 'at most';
  readonly limit: number;
  readonly unit: string;
  readonly measured: number;
  readonly isMet: boolean;
}

export interface ResultTable {
  readonly title: string;
  /** With their units; the first names the rows. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
  /** Drawn as bars, by position. */
  readonly bar?: number;
}

export const atLeast = (says: string, limit: number, measured: number, unit = ''): Target => ({
  says,
  bound: 'at least',
  limit,
  unit,
  measured,
  isMet: measured >= limit,
});

export const atMost = (says: string, limit: number, measured: number, unit = ''): Target => ({
  says,
  bound: 'at most',
  limit,
  unit,
  measured,
  isMet: measured <= limit,
});

/** Such as `target >= 0.4, measured 0.43: met`. */
export function verdictOf({ says, bound, limit, unit, measured, isMet }: Target): string {
  const sign = bound === 'at least' ? '>=' : '<=';
  const suffix = unit === '' ? '' : ` ${unit}`;
  return `${says}: target ${sign} ${limit}${suffix}, measured ${measured}${suffix}: ${isMet ? 'met' : 'NOT MET'}`;
}
