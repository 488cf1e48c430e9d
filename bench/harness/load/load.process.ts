import { Pool } from 'undici';
import { takePart } from '../contender.js';
import type { Load, LoadResult } from './load.js';

takePart(async ({ remoteUrl, concurrency }) => {
  const pool = new Pool(remoteUrl, { connections: concurrency, pipelining: 1 });
  return {
    run: async (count: number, load: Load): Promise<LoadResult> => {
      const { method, paths, bodies, headers = {} } = load;
      const latenciesMs: number[] = [];
      const statuses: Record<string, number> = {};
      let next = 0;
      const one = async (): Promise<void> => {
        while (next < count) {
          const index = next++;
          const startedAt = performance.now();
          const { statusCode, body } = await pool.request({
            method,
            path: paths[index % paths.length]!,
            headers,
            body: bodies?.[index % bodies.length],
          });
          await body.text();
          latenciesMs.push(performance.now() - startedAt);
          statuses[statusCode] = (statuses[statusCode] ?? 0) + 1;
        }
      };
      await Promise.all(Array.from({ length: concurrency }, one));
      return { latenciesMs, statuses };
    },
  };
});
