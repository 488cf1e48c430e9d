import pg from 'pg';
import { Arrivals } from '../harness/arrivals.js';
import { takePart } from '../harness/contender.js';

// LISTEN, and a read of the row that was notified, since a notification holds 8 kB at most. What is said while nobody listens is lost.
takePart(async ({ databaseUrl }) => {
  const arrivals = new Arrivals();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });
  const readOne = { name: 'read', text: 'SELECT subject, data FROM bare_events WHERE id = $1' };
  client.on('notification', ({ payload }) => {
    void pool
      .query<{ subject: string }>({ ...readOne, values: [payload] })
      .then(({ rows }) => arrivals.add(rows[0]!.subject));
  });
  await client.query('LISTEN bench');
  return { run: (count: number) => arrivals.take(count) };
});
