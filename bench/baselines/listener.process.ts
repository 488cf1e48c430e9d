import pg from 'pg';
import { Arrivals } from '../harness/arrivals.js';
import { takePart } from '../harness/contender.js';

// Bare LISTEN: what is notified has arrived. It is lost when nobody listens.
takePart(async ({ databaseUrl }) => {
  const arrivals = new Arrivals();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  client.on('notification', ({ payload }) => arrivals.add(payload ?? ''));
  await client.query('LISTEN bench');
  return { run: (count: number) => arrivals.take(count) };
});
