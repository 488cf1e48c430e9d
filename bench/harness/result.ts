/** A benchmark's result in bench/results/NAME.json, the only source of the figures in bench/README.md. */
export interface BenchResult {
  readonly benchmark: string;
  readonly title: string;
  /** The size of the measurement in words, such as its sessions and rounds. */
  readonly extent: string;
  readonly isTrial: boolean;
  readonly control: Control;
  readonly targets: readonly Target[];
  readonly tables: readonly ResultTable[];
  readonly machine: Readonly<Record<string, string | number>>;
  readonly versions: Readonly<Record<string, string>>;
}

export interface Control {
  readonly ratio: number;
  readonly least: number;
  readonly most: number;
  /** Whether `ratio` is within bounds. If it is not, the machine was too noisy, and the run proves nothing. */
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
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
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

/** Returns a line such as `reads: target >= 0.4, measured 0.43: met`. */
export function verdictOf({ says, bound, limit, unit, measured, isMet }: Target): string {
  const sign = bound === 'at least' ? '>=' : '<=';
  const suffix = unit === '' ? '' : ` ${unit}`;
  return `${says}: target ${sign} ${limit}${suffix}, measured ${measured}${suffix}: ${isMet ? 'met' : 'NOT MET'}`;
}
