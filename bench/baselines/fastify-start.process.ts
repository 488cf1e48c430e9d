import Fastify from 'fastify';
import pg from 'pg';
import { Pool } from 'undici';
import { takePart } from '../harness/contender.js';

// The lower bound for a crash-safe start: commits an intent before the remote call, and the response after the call. It has no
// authentication, no validation, no event and no history, and a double click starts two sessions.
takePart(async ({ databaseUrl, remoteUrl }) => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  const remote = new Pool(remoteUrl);
  await pool.query(
    `CREATE TABLE bare_starts (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), location uuid, response jsonb)`,
  );
  const insert = { name: 'insert', text: 'INSERT INTO bare_starts (location) VALUES ($1) RETURNING id' };
  const update = { name: 'update', text: 'UPDATE bare_starts SET response = $2 WHERE id = $1' };
  const headers = { ApiKey: 'bench', authorization: 'Bearer benchmark', accept: 'application/json' };
  const app = Fastify();
  app.post<{ Params: { location: string } }>('/start/:location', async ({ params }) => {
    const { rows } = await pool.query<{ id: string }>(insert, [params.location]);
    const path = `/api/v1/ssa/onboarding/pv/${params.location}`;
    const { body } = await remote.request({ path, method: 'POST', headers });
    const response = await body.json();
    await pool.query(update, [rows[0]!.id, JSON.stringify(response)]);
    return response;
  });
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }) };
});
