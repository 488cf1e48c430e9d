import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RoundTrips } from '../../../bench/harness/round-trips.js';
import { currentRequest } from '../../../src/platform/http/request-context.js';
import { TestClient } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';

/** Is executed beside the response, and no caller waits for it. */
const BESIDE = 'events.try_to_assign_sequences';

// The remote service costs milliseconds, and a round trip to PostgreSQL up to one. A caller waits for each of these statements.
describe('the round trips to PostgreSQL', () => {
  const service = useTestApp({ ROLE: 'api' });
  const client = TestClient.of(service);
  let trips: RoundTrips;

  beforeAll(() => {
    trips = new RoundTrips((name) => currentRequest() !== undefined && name !== BESIDE);
  });
  afterAll(() => trips.end());

  it('are 8 for a registration', async () => {
    expect(await trips.of(() => client.locate())).toHaveLength(8);
  });

  it('are 10 for a start', async () => {
    const places = [await client.locate(), await client.locate()];
    expect(await trips.of(() => client.start(places.pop()!, { brand: 'sunward' }))).toHaveLength(10);
  });

  it('is 1 for a session', async () => {
    const { id } = await client.startNew();
    expect(await trips.of(() => client.session(id))).toHaveLength(1);
  });
});
