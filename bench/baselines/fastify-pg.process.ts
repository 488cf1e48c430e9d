import Fastify from 'fastify';
import pg from 'pg';
import { FIND_SESSION } from '../../src/onboarding/store/sessions.sql.js';
import { takePart } from '../harness/contender.js';

// The least that answering a session from PostgreSQL can cost in Node: one prepared statement, and what it brings as JSON. Nobody is
// asked for a key, nothing is checked. `/full` runs our own statement, so that its answer says as much as ours; `/row` reads the
// session's row and nothing of its user, inverters and polls.
takePart(async ({ databaseUrl }) => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  const app = Fastify();
  const row = { name: 'row', text: 'SELECT * FROM onboarding_sessions WHERE id = $1' };
  for (const [path, statement] of Object.entries({ full: FIND_SESSION, row })) {
    app.get<{ Params: { id: string } }>(`/${path}/:id`, async (request) => {
      const { rows } = await pool.query(statement, [request.params.id]);
      return rows[0];
    });
  }
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }) };
});
