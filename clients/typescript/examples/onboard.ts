import { createClient, waitForOnline } from '@pv-onboarding/client';

const { PV_URL = 'http://127.0.0.1:3000', PV_KEY = '', EAN = '871685900000000011' } = process.env;
const client = createClient({ baseUrl: PV_URL, apiKey: PV_KEY });

const { data: user } = await client.POST('/api/v1/users', {
  body: { tenantReference: `customer-${EAN}`, gridLocations: [{ ean: EAN }] },
});
// 202: the remote service could not be called, or its response was lost. The registration is decided later.
if (user.object === 'registration')
  throw new Error(`registration ${user.id} is ${user.status}: try again later`);

const { data: session } = await client.POST('/api/v1/onboarding/pv/{id}', {
  params: { path: { id: user.gridLocations[0]!.id } },
  body: {},
});
// Null if the location is online already, or the key lacks `links:read`.
if (session.startUrl !== null) console.log(`The owner opens ${session.startUrl}`);

const { inverters } = await waitForOnline(client, session.id, { timeoutMs: 600_000, maxAgeSeconds: 5 });
console.log(`online: ${inverters.map(({ id }) => id).join(', ')}`);
