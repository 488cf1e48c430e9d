import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../setup/wait-for.js';
import {
  arrivals,
  outOfOrder,
  startWebhookSink,
  type WebhookSink,
} from '../../setup/receivers/webhook-sink.js';
import { DyingReplicas } from '../support/dying-replicas.js';
import { promise } from '../support/promise.js';
import { letLeasesAge, startReplicas, type Replicas } from '../support/replicas.js';
import { ANNOUNCED, announce, makeEndpoint } from '../support/webhooks.js';

jest.setTimeout(240_000);

const REPLICAS = 3;
const ROUNDS = 10;
const SESSIONS = 25;
const EVENTS_EACH = 4;
/** Replicas need one or two seconds to deliver 100 events. One replica is killed within this time. */
const KILL_AFTER_MS = 300;
/** The delay of each response, so that requests are in flight when their sender is killed. */
const DELAY_MS = 50;

/** Serves the API, delivers nothing, and is never killed. */
let observer: Replicas;
let replicas: DyingReplicas;
let sink: WebhookSink;

beforeEach(async () => {
  sink = await startWebhookSink();
  observer = await startReplicas({ count: 1, environment: { ROLE: 'api' } });
  replicas = await DyingReplicas.load(2 * REPLICAS, {
    ...observer.sandbox.environment,
    DATABASE_URL: observer.databaseUrl,
    ROLE: 'worker',
    LOG_LEVEL: 'info',
  });
}, 240_000);
afterEach(async () => {
  await replicas.close();
  await observer.close();
  await sink.stop();
});

describe('R29: webhooks arrive although replicas die', () => {
  it(`${ROUNDS * SESSIONS * EVENTS_EACH} events at a subscriber in another process, every replica killed in turn`, async () => {
    const database = observer.apps[0]!.database;
    const endpoint = await makeEndpoint(observer.clients[0]!, `${sink.url}/hook`, ANNOUNCED);
    await sink.behave({ '/hook': { secret: endpoint.secret, delayMs: DELAY_MS } });
    await Promise.all(Array.from({ length: REPLICAS }, () => replicas.begin()));

    let count = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const announcing = announce(database, SESSIONS, EVENTS_EACH);
      if (round > 0 && replicas.killed < REPLICAS) {
        await sleep(KILL_AFTER_MS);
        await replicas.killOne();
        await letLeasesAge(database, 20);
      }
      count += await announcing;
    }
    await replicas.allServe();
    await letLeasesAge(database, 20);
    await waitFor('every event has arrived', async () => (await sink.taken('/hook')) >= count, 90_000);

    const received = await sink.received();
    const arrived = arrivals(received, '/hook');
    const verified = arrived.filter((each) => each.verified);
    const disordered = outOfOrder(arrived);
    promise('R29', {
      figure:
        `${verified.length} of ${count} events arrived and were verified, ${replicas.killed} of ${REPLICAS} replicas killed, ` +
        `${received.length - count} repeated, ${disordered.length} out of order`,
      bound: 'all, 0 out of order',
    });
    expect(verified).toHaveLength(count);
    expect(received.every((each) => each.verified)).toBe(true);
    expect(disordered).toEqual([]);
    expect(replicas.killed).toBe(REPLICAS);
    await waitFor('all are delivered', async () => {
      // Of this endpoint: the replicas have a handler, too, whose table does not exist.
      const text = "SELECT FROM webhook_deliveries WHERE endpoint_id = $1 AND status <> 'delivered'";
      const rows = await database.query(text, [endpoint.id]);
      return rows.length === 0;
    });
  });
});
