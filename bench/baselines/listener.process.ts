import pg from 'pg';
import { Arrivals } from '../harness/load/arrivals.js';
import { takePart } from '../harness/contender.js';

// Executes LISTEN and selects the row that each notification names: the payload of a notification is limited to 8 kB.
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
