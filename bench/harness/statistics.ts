/** Requires at least one value. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)]!;
  return below + (sorted[Math.ceil(position)]! - below) * (position % 1);
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export function slope(xs: readonly number[], ys: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x0, y0] = [mean(xs), mean(ys)];
  const spread = xs.reduce((sum, x) => sum + (x - x0) ** 2, 0);
  return spread === 0 ? 0 : xs.reduce((sum, x, index) => sum + (x - x0) * (ys[index]! - y0), 0) / spread;
}

export const rounded = (value: number, digits = 3): number => Number(value.toPrecision(digits));
