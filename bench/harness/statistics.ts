/** Returns the quantile at `share`, from 0 to 1. Requires at least one value. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)]!;
  return below + (sorted[Math.ceil(position)]! - below) * (position % 1);
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Returns the median and the 99th percentile. */
export const medianAndTail = (values: readonly number[]): [number, number] => [
  rounded(median(values)),
  rounded(quantile(values, 0.99)),
];

export const rounded = (value: number, digits = 3): number => Number(value.toPrecision(digits));
