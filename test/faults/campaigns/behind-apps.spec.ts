import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { RegistrationSender } from '../../../src/users/registration/send-registrations.service.js';
import { upload } from '../../campaigns/campaign-client.js';
import { TestClient } from '../../setup/client.js';
import { newValidEan } from '../../setup/ean.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { isLong, itAtLength, measureUntil, promise } from '../support/promise.js';

jest.setTimeout(300_000);

const ROWS = isLong ? 100_000 : 1_000;
const PER_SECOND = 10;
const LATENCY_MS = 100;
const REGISTRATIONS = isLong ? 30 : 3;
const AT_MOST = 3;
/**
 * The calls in flight when the app sends its request, and the calls that the budget allows before the call of the app. The campaign claims
 * 12 registrations at a time.
 */
const AHEAD_AT_MOST = 4;

let service: TestApp;
afterEach(() => service.close());

const medianOf = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;

interface Measured {
  readonly ms: number;
  /** How many other registrations reached the remote service between the request of the app and its remote call. */
  readonly ahead: number;
}

/** Registers users as an app does, one after the other. Returns the medians. */
async function registerSingly(client: TestClient): Promise<Measured> {
  const { control } = service.sandbox!;
  const times: number[] = [];
  const ahead: number[] = [];
  for (let nth = 0; nth < REGISTRATIONS; nth++) {
    const tenantReference = randomUUID();
    const before = (await control.ledger()).users.length;
    const sentAt = performance.now();
    const gridLocations = [{ ean: newValidEan() }];
    expect((await client.call('POST', '/users', { tenantReference, gridLocations })).status).toBe(201);
    times.push(performance.now() - sentAt);
    const { users } = await control.ledger();
    ahead.push(users.findIndex((user) => user.tenantReference === tenantReference) - before);
  }
  return { ms: medianOf(times), ahead: medianOf(ahead) };
}

/**
 * Measures registrations of an app before a campaign and while the campaign uses the whole budget. `ratio`: the second time divided by the
 * first.
 */
async function compare(prepare: (app: NestFastifyApplication) => void = () => {}) {
  service = await startTestApp({ SCS_MAX_REQUESTS_PER_SECOND: PER_SECOND }, { prepare });
  const client = TestClient.of(service);
  const database = service.database;
  await service.sandbox!.control.change({ latencyMs: LATENCY_MS });
  await client.locate();
  const { ms: aloneMs } = await registerSingly(client);
  const rows = Array.from({ length: ROWS }, () => `${randomUUID()},${newValidEan()}`);
  const { body } = await upload(service, ['tenantReference,ean', ...rows].join('\n'), '');
  const settled = async () =>
    (
      await database.query(`SELECT FROM campaign_rows WHERE campaign_id = $1 AND status = 'registered'`, [
        body.id,
      ])
    ).length;
  await waitFor('the campaign runs at the budget', async () => (await settled()) > 2 * PER_SECOND);
  const measure = async () => {
    const { ms: besideMs, ahead } = await registerSingly(client);
    return { aloneMs, besideMs, ratio: besideMs / aloneMs, ahead };
  };
  const measured = await measureUntil(
    ({ ratio, ahead }) => ratio <= AT_MOST && ahead <= AHEAD_AT_MOST,
    measure,
  );
  const done = await settled();
  await waitFor('the campaign goes on', async () => (await settled()) > done);
  return measured;
}

describe('R52: a campaign leaves apps undisturbed', () => {
  it(`with ${ROWS} rows at the budget, one registration by an app takes hardly longer than alone`, async () => {
    const { aloneMs, besideMs, ratio, ahead } = await compare();
    promise('R52', {
      figure: `${Math.round(besideMs)} ms beside a campaign of ${ROWS} rows, ${Math.round(aloneMs)} ms alone: ${ratio.toFixed(1)} times; ${ahead} rows sent before it`,
      bound: `${AT_MOST} times; ${AHEAD_AT_MOST} rows`,
    });
    expect(ahead).toBeLessThanOrEqual(AHEAD_AT_MOST);
    expect(ratio).toBeLessThanOrEqual(isLong ? AT_MOST : Infinity);
  });

  itAtLength('turns red when both wait in one queue', async () => {
    const { ratio, ahead } = await compare((app) => {
      const sender = app.get(RegistrationSender);
      const send = sender.send.bind(sender);
      sender.send = (claim) => send(claim, 'background');
    });
    expect(ratio).toBeGreaterThan(AT_MOST);
    expect(ahead).toBeGreaterThan(AHEAD_AT_MOST);
  });
});
