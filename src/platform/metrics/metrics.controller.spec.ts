import { expect, it, jest } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { Metrics } from './metrics.js';
import { MetricsController } from './metrics.controller.js';

it('makes one text for all who ask at the same time, and another one after it', async () => {
  const metrics = new Metrics();
  const make = jest.spyOn(metrics.registry, 'metrics');
  const controller = new MetricsController(metrics);
  const reply = { header: () => reply } as unknown as FastifyReply;
  const texts = await Promise.all(Array.from({ length: 10 }, () => controller.read(reply)));
  expect(new Set(texts).size).toBe(1);
  expect(make).toHaveBeenCalledTimes(1);
  await controller.read(reply);
  expect(make).toHaveBeenCalledTimes(2);
});
