import Fastify from 'fastify';
import pg from 'pg';
import { FIND_SESSION } from '../../src/onboarding/store/sessions.sql.js';
import { takePart } from '../harness/contender.js';

// The lower bound for GET of a session: one prepared statement, no authentication, no validation. `/full` runs the statement of our
// service; `/row` selects only the row of the session.
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
