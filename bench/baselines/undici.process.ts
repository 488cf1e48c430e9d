import { Pool } from 'undici';
import { takePart } from '../harness/contender.js';
import { sessionId } from '../harness/sessions.js';

// The lower bound for reading a session in Node: undici with keep-alive connections, no database, the response discarded.
takePart(async ({ remoteUrl, concurrency }) => {
  const pool = new Pool(remoteUrl, { connections: concurrency, pipelining: 1 });
  const headers = { ApiKey: 'bench', authorization: 'Bearer benchmark', accept: 'application/json' };
  let paths: string[] = [];
  return {
    run: async (reads: number) => {
      if (paths.length !== reads)
        paths = Array.from({ length: reads }, (_, index) => `/api/v1/ssa/onboarding/pv/${sessionId(index)}`);
      let next = 0;
      const one = async (): Promise<void> => {
        while (next < reads) {
          const { body } = await pool.request({ path: paths[next++]!, method: 'GET', headers });
          await body.text();
        }
      };
      await Promise.all(Array.from({ length: concurrency }, one));
    },
  };
});
