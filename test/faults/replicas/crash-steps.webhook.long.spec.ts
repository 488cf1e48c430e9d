import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess } from '../../setup/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import {
  arrivals,
  outOfOrder,
  startWebhookSink,
  type WebhookSink,
} from '../../setup/receivers/webhook-sink.js';
import { WEBHOOK_STEP } from '../support/crash-points.js';
import { promise } from '../support/promise.js';
import { announce, makeEndpoint } from '../support/webhooks.js';
import { letJobsAge } from '../support/replicas.js';

jest.setTimeout(240_000);

const KILLED = 4;
/** Below the number of requests that one endpoint may have in flight. */
const AT_ONCE = 8;
const EVENTS_EACH = 2;

let sink: WebhookSink;
let service: TestApp;
beforeEach(async () => {
  sink = await startWebhookSink();
  service = await startTestApp({ ROLE: 'api', LOG_LEVEL: 'error' });
});
afterEach(async () => {
  await service.close();
  await sink.stop();
});

/** Runs a worker that is killed when AT_ONCE deliveries have got a 2xx and none of them is saved. */
async function deliverAndDie(): Promise<void> {
  const { DATABASE_URL, SCS_BASE_URL, SCS_API_KEY, SCS_CLIENT_ID, SCS_CLIENT_SECRET } = service.environment;
  const worker = await startTestProcess('test/faults/support/processes/crash-steps.process.ts', {
    ...testEnvironment(),
    ...{ DATABASE_URL, SCS_BASE_URL, SCS_API_KEY, SCS_CLIENT_ID, SCS_CLIENT_SECRET },
    ROLE: 'worker',
    CRASH_STEP: WEBHOOK_STEP,
    CRASH_COUNT: String(AT_ONCE),
  });
  expect((await worker.exited).signal).toBe('SIGKILL');
  await letJobsAge(service.app.get(Database), 31);
}

describe('R2: a crash after a webhook was taken is safe', () => {
  it(`in ${KILLED * AT_ONCE} deliveries: each is repeated under its id, none is lost, none overtakes another`, async () => {
    await makeEndpoint(TestClient.of(service), `${sink.url}/hook`);
    const count = await announce(service.app.get(Database), AT_ONCE, EVENTS_EACH);
    for (let killed = 0; killed < KILLED; killed++) await deliverAndDie();
    const { DATABASE_URL, SCS_BASE_URL } = service.environment;
    const next = await startTestApp({ DATABASE_URL, SCS_BASE_URL, ROLE: 'worker', LOG_LEVEL: 'error' });
    try {
      await waitFor('every event is taken', async () => (await sink.taken('/hook')) === count);
      await waitFor('no delivery is pending', async () => {
        const pending = await service.app
          .get(Database)
          .query("SELECT FROM webhook_deliveries WHERE status = 'pending'");
        return pending.length === 0;
      });
    } finally {
      await next.close();
    }
    const received = await sink.received();
    const arrived = arrivals(received, '/hook');
    const events = await service.app.get(Database).query<{ id: string }>('SELECT id FROM domain_events');
    const lost = events.filter(({ id }) => !arrived.some((each) => each.id === id));
    const disordered = outOfOrder(arrived);
    promise('R2', {
      figure:
        `${KILLED * AT_ONCE} deliveries killed at "${WEBHOOK_STEP}": ${lost.length} lost, ` +
        `${received.length - count} repeated under their id, ${disordered.length} out of order`,
      bound: `0 lost, ${KILLED * AT_ONCE} repeated, 0 out of order`,
    });
    expect(lost).toEqual([]);
    expect(disordered).toEqual([]);
    expect(received).toHaveLength(count + KILLED * AT_ONCE);
  });
});
