import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RoundTrips } from '../../../bench/harness/round-trips.js';
import { FEATURES } from '../../../src/app.module.js';
import { currentRequest } from '../../../src/platform/http/request-context.js';
import { TestClient } from '../../setup/client.js';
import { StatusModule } from '../../../src/status/status.module.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

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

  it('are 9 for a session that is read again and has not changed', async () => {
    const { id } = await client.startNew();
    expect(await trips.of(() => client.call('POST', `/onboarding/pv/${id}/refresh`))).toHaveLength(9);
  });

  it('is 1 for a session', async () => {
    const { id } = await client.startNew();
    expect(await trips.of(() => client.session(id))).toHaveLength(1);
  });
});

/** An idle process asks once a second what is due, or whether its connection for notifications lives. */
const isQuestion = (name: string) => /find_due|pg_listening_channels/.test(name);
const SECONDS = 6;

// The status samples itself once a minute, whatever the number of processes. That is another 0.3 statements a second.
const WITHOUT_SAMPLES = { features: FEATURES.filter((each) => each !== StatusModule) };

describe('an idle process', () => {
  const ROLES = ['api', 'worker', 'all'] as const;
  /** By their database, of which each process has its own. */
  const names: Record<string, string[]> = {};
  let trips: RoundTrips;

  beforeAll(() => {
    trips = new RoundTrips((name, database) => (names[database] ??= []).push(name) > 0);
  });
  const services = ROLES.map((ROLE) =>
    useTestApp({ ROLE, POLL_TICK_MS: 1_000, POLL_MAX_INTERVAL_MS: 900_000 }, WITHOUT_SAMPLES),
  );
  afterAll(() => trips.end());

  it('asks PostgreSQL at most twice a second, in each role', async () => {
    const asked = services.map(async ({ environment: { ROLE, DATABASE_URL } }) => {
      const own = () => names[new URL(DATABASE_URL).pathname.slice(1)] ?? [];
      let from = 0;
      await waitFor(
        `${2 * SECONDS} statements or fewer in ${SECONDS} seconds, ROLE=${ROLE}`,
        () => {
          const questions = own().flatMap((name, i) => (isQuestion(name) ? [i] : []));
          const began = questions.filter((i) => i >= from);
          if (began.length <= SECONDS) return false;
          from = began[1]!;
          return began[SECONDS]! - began[0]! <= 2 * SECONDS;
        },
        50_000,
      );
      expect(own().filter(isQuestion).length).toBeGreaterThan(SECONDS);
    });
    await Promise.all(asked);
  }, 60_000);
});
