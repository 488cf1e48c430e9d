import { expect, it } from '@jest/globals';
import { zoomed } from './zoom.js';

const ALL = { min: 0, max: 8_000 };

it.each([
  ['half as long around its middle', [2_000, 6_000], 0.5, 0, [3_000, 5_000]],
  ['twice as long, within the whole', [0, 4_000], 2, 0, [0, 8_000]],
  ['earlier', [4_000, 6_000], 1, -0.5, [3_000, 5_000]],
  ['no later than the end', [5_000, 7_500], 1, 0.5, [5_500, 8_000]],
  ['at least 5 minutes long', [4_000, 4_400], 0.5, 0, [4_050, 4_350]],
  ['as it was, if it is older than all', [-3_000, -1_000], 1, 0, [0, 2_000]],
] as const)('the shown time becomes %s', (_, [min, max], factor, shift, [from, to]) =>
  expect(zoomed({ min, max }, ALL, factor, shift)).toEqual({ min: from, max: to }),
);
