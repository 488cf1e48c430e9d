import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Database } from '../../../src/platform/database/database.js';
import { RegistrationSender } from '../../../src/users/registration/send-registrations.service.js';
import { insertCampaign } from '../../setup/campaign.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { isLong, itAtLength, measureUntil, promise } from '../support/promise.js';

jest.setTimeout(300_000);

const ROWS = isLong ? 100_000 : 1_000;
const PER_SECOND = 10;
const LATENCY_MS = 100;
const REGISTRATIONS = isLong ? 30 : 3;
const AT_MOST = 3;

let service: TestApp;
afterEach(() => service.close());

const medianOf = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;

/** Registers users of an app one after the other, and returns the median time of one in milliseconds. */
async function registerSingly(client: TestClient): Promise<number> {
  const times: number[] = [];
  for (let nth = 0; nth < REGISTRATIONS; nth++) {
    const sentAt = performance.now();
    await client.locate();
    times.push(performance.now() - sentAt);
  }
  return medianOf(times);
}

/** Returns the time of a registration while a campaign runs at the budget, and how many times that is its time without. */
async function compare(prepare: (app: NestFastifyApplication) => void = () => {}) {
  service = await startTestApp({ SCS_MAX_REQUESTS_PER_SECOND: PER_SECOND }, { prepare });
  const client = TestClient.of(service);
  const { control } = service.sandbox!;
  const database = service.app.get(Database);
  await control.change({ latencyMs: LATENCY_MS });
  await client.locate();
  const aloneMs = await registerSingly(client);
  const rows = Array.from({ length: ROWS }, () => ({ tenantReference: randomUUID() }));
  const id = await insertCampaign(database, rows);
  const settled = async () =>
    (await database.query(`SELECT FROM campaign_rows WHERE campaign_id = $1 AND status = 'registered'`, [id]))
      .length;
  await waitFor('the campaign runs at the budget', async () => (await settled()) > 2 * PER_SECOND);
  const measure = async () => {
    const besideMs = await registerSingly(client);
    return { aloneMs, besideMs, ratio: besideMs / aloneMs };
  };
  const measured = await measureUntil(({ ratio }) => ratio <= AT_MOST, measure);
  const done = await settled();
  await waitFor('the campaign goes on', async () => (await settled()) > done);
  return measured;
}

describe('R52: a campaign leaves apps undisturbed', () => {
  it(`with ${ROWS} rows at the budget, one registration by an app takes hardly longer than alone`, async () => {
    const { aloneMs, besideMs, ratio } = await compare();
    promise('R52', {
      figure: `${Math.round(besideMs)} ms beside a campaign of ${ROWS} rows, ${Math.round(aloneMs)} ms alone: ${ratio.toFixed(1)} times`,
      bound: `${AT_MOST} times`,
    });
    expect(ratio).toBeLessThanOrEqual(isLong ? AT_MOST : Infinity);
  });

  itAtLength('turns red when both wait in one queue', async () => {
    const { ratio } = await compare((app) => {
      const sender = app.get(RegistrationSender);
      const send = sender.send.bind(sender);
      sender.send = (claim) => send(claim, 'background');
    });
    expect(ratio).toBeGreaterThan(AT_MOST);
  });
});
