import { expect, it, jest } from '@jest/globals';
import { Metrics } from './metrics.js';

it('collects once for concurrent reads, and again for a later read', async () => {
  const metrics = new Metrics();
  const make = jest.spyOn(metrics.registry, 'metrics');
  const texts = await Promise.all(Array.from({ length: 10 }, () => metrics.read()));
  expect(new Set(texts).size).toBe(1);
  expect(make).toHaveBeenCalledTimes(1);
  await metrics.read();
  expect(make).toHaveBeenCalledTimes(2);
});
