export type Random = () => number;

/** Returns a generator of random numbers in (0, 1). Equal seeds give equal numbers. */
export function seeded(seed: number): Random {
  let state = seed;
  const next = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  // Drops the first numbers, which are alike for small seeds.
  for (let i = 0; i < 10; i++) next();
  return next;
}
