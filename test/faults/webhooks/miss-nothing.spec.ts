import { afterEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ENDPOINT_LEASES, FIND_DUE, TAKE } from '../../../src/delivery/take.sql.js';
import { waitFor } from '../../setup/wait-for.js';
import {
  arrivals,
  outOfOrder,
  startWebhookSink,
  type WebhookSink,
} from '../../setup/receivers/webhook-sink.js';
import { changeStatement } from '../support/changed-statement.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { startReplicas, type Replicas } from '../support/replicas.js';
import { makeEndpoint } from '../support/webhooks.js';
import { writeAtOnce, WRITERS } from '../support/writers.js';

const TRANSACTIONS = isLong ? 45 : 20;
/** More than one replica, because no replica may repeat a delivery of another. */
const REPLICAS = 2;

let replicas: Replicas;
let sink: WebhookSink;
afterEach(async () => {
  await replicas.close();
  await sink.stop();
});

/** Writes events while replicas deliver them. Returns the numbers of committed and of missing events, and the arrivals. */
async function deliverAlong(prepare: (app: NestFastifyApplication) => void = () => {}) {
  sink = await startWebhookSink();
  const environment = { DATABASE_POOL_SIZE: WRITERS + 6 };
  replicas = await startReplicas({ count: REPLICAS, environment, prepare });
  await makeEndpoint(replicas.clients[0]!, `${sink.url}/hook`);
  const database = replicas.apps[0]!.database;
  await writeAtOnce(database, TRANSACTIONS);
  await waitFor('no delivery is pending', async () => {
    const [row] = await database.query<{ isOver: boolean }>(`
        SELECT NOT EXISTS (SELECT FROM domain_events WHERE sequence IS NULL)
          AND NOT EXISTS (SELECT FROM webhook_deliveries WHERE status = 'pending')
          AND (SELECT max(sequence) FROM domain_events) <= (SELECT read_to FROM webhook_endpoints) AS "isOver"`);
    return row!.isOver;
  });
  const events = await database.query<{ id: string }>('SELECT id FROM domain_events');
  const arrived = arrivals(await sink.received(), '/hook');
  const seen = new Set(arrived.map(({ id }) => id));
  return { count: events.length, missing: events.filter(({ id }) => !seen.has(id)).length, arrived };
}

describe('R6: webhooks miss nothing', () => {
  it('deliver every committed event, in order within a session, however late it commits', async () => {
    const { count, missing, arrived } = await deliverAlong();
    const disordered = outOfOrder(arrived);
    promise('R6', {
      figure: `${missing} of ${count} missing at a webhook endpoint, ${disordered.length} out of order`,
      bound: '0, 0',
    });
    expect(count).toBeGreaterThan(WRITERS * TRANSACTIONS);
    expect([missing, arrived.length, disordered]).toEqual([0, count, []]);
  });

  itAtLength('turns red when events are read by their position', async () => {
    const { missing } = await deliverAlong((app) => {
      for (const statement of [FIND_DUE, ENDPOINT_LEASES.claim])
        changeStatement(app, statement, 'max(sequence)', 'max(position)');
      changeStatement(
        app,
        TAKE,
        `SELECT position, sequence, subject, name FROM domain_events
        WHERE sequence > endpoint.read_to ORDER BY sequence`,
        `SELECT position, position AS sequence, subject, name FROM domain_events
        WHERE position > endpoint.read_to ORDER BY position`,
      );
    });
    expect(missing).toBeGreaterThan(0);
  });
});
