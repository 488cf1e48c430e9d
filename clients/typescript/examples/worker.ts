import { readFile, rename, writeFile } from 'node:fs/promises';
import { createClient, followEvents } from '@pv-onboarding/client';

const { PV_URL = 'http://127.0.0.1:3000', PV_KEY = '', PLACE = 'last-sequence' } = process.env;
const client = createClient({ baseUrl: PV_URL, apiKey: PV_KEY });

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());

const after = await readFile(PLACE, 'utf8').catch(() => '0');
for await (const event of followEvents(client, {
  after,
  types: ['pv.session.online.v1', 'pv.session.expired.v1'],
  signal: stop.signal,
  onRetry: console.warn,
})) {
  console.log(`${event.data.sessionId} is ${event.data.state}`);
  // Saved after the event is handled: a worker that is killed in between gets the event again. Better: in the transaction that handles it.
  await writeFile(`${PLACE}.new`, event.sequence);
  await rename(`${PLACE}.new`, PLACE);
}
