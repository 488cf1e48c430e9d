export interface Backoff {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Returns the wait after consecutive failures: `firstMs`, then doubling up to `mostMs`. `random` in [0, 1) shortens it by up to half. */
export function backoffMs({ firstMs, mostMs }: Backoff, failures: number, random = 1): number {
  return Math.min(firstMs * 2 ** (failures - 1), mostMs) * (0.5 + random / 2);
}
