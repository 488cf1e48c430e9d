export type Random = () => number;

/** Returns numbers in (0, 1) that look random, the same ones for the same seed. */
export function seeded(seed: number): Random {
  let state = seed;
  const next = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  // The first numbers of small seeds are alike.
  for (let i = 0; i < 10; i++) next();
  return next;
}
