import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import pg from 'pg';
import type { DomainEvent } from '../../../src/events/catalogue.rules.js';
import { OnEvent } from '../../../src/handlers/on-event.js';
import { Database } from '../../../src/platform/database/database.js';
import { RegistrationSender } from '../../../src/users/registration/send-registrations.service.js';
import { TestClient } from '../../setup/client.js';
import type { SandboxOperation } from '../../setup/sandbox/sandbox-control.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { startWebhookSink } from '../../setup/receivers/webhook-sink.js';
import { allAtLength, isLong, itAtLength, measureUntil, promise } from '../support/promise.js';
import { startSessions } from '../support/replicas.js';
import { announce, makeEndpoint } from '../support/webhooks.js';
import { waitUntilHeld } from '../support/waits.js';

/**
 * The duration of the seeded bug: shorter than idle_in_transaction_session_timeout, so that a sample finds the seeded transaction before
 * PostgreSQL ends it.
 */
const SEEDED_HANG_MS = 2_000;
const HANG_MS = isLong ? 20_000 : SEEDED_HANG_MS;
const SAMPLE_EVERY_MS = 100;
const OLDEST_MS = 1_000;
const LEAST_SAMPLES = HANG_MS / SAMPLE_EVERY_MS / 4;
/** Timeouts so long that no hanging call times out before the test ends it. */
const PATIENT = { LOG_LEVEL: 'error', SCS_TIMEOUT_MS: 60_000, POLL_LEASE_MS: 120_000 } as const;

let service: TestApp;
let client: TestClient;

const handling = new Set<string>();
let letGo: () => void = () => {};
let hanging: Promise<void> = Promise.resolve();
let stop = async () => {};

@Injectable()
class HangingHandler {
  @OnEvent('session.started')
  async call({ id }: DomainEvent<'session.started'>): Promise<void> {
    handling.add(id);
    await hanging;
    handling.delete(id);
  }
}

@Module({ providers: [HangingHandler] })
class HangingHandlers {}

async function start(prepare?: (app: NestFastifyApplication) => void): Promise<void> {
  await stop();
  hanging = new Promise((resolve) => (letGo = resolve));
  service = await startTestApp(PATIENT, { modules: [HangingHandlers], ...(prepare && { prepare }) });
  client = TestClient.of(service);
  stop = async () => {
    stop = async () => {};
    letGo();
    await service.close();
  };
}
afterEach(() => stop());

const hold = (operation: SandboxOperation) =>
  service.sandbox!.control.addFault({ kind: 'hold', operation, times: null });

interface Sampled {
  readonly samples: number;
  readonly old: readonly string[];
}

async function sample(hangMs: number): Promise<Sampled> {
  const admin = new pg.Client({ connectionString: service.environment.DATABASE_URL });
  await admin.connect();
  const old: string[] = [];
  let samples = 0;
  for (const until = performance.now() + hangMs; performance.now() < until; samples++) {
    const { rows } = await admin.query<{ text: string }>(
      `SELECT concat_ws(' ', application_name, state, clock_timestamp() - xact_start, query) AS text FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'pv-onboarding%'
          AND clock_timestamp() - xact_start > $1 * interval '1 ms'`,
      [OLDEST_MS],
    );
    old.push(...rows.map(({ text }) => text));
    await sleep(SAMPLE_EVERY_MS);
  }
  await admin.end();
  return { samples, old };
}

/** Makes remote reads, registrations, starts and an event handler hang. Samples the open transactions meanwhile. */
async function sampleWhileCallsHang(hangMs: number): Promise<Sampled> {
  const { control } = service.sandbox!;
  const locations = await Promise.all([client.locate(), client.locate()]);
  // Adds the fault first, so that all reads hang. A session that has been read is not claimed again while other reads of its batch hang.
  const reads = await hold('read_session');
  await startSessions(client, 3);
  await waitUntilHeld(control, 3, reads.id);
  await waitFor('the handler hangs', () => handling.size > 0);
  const registrations = await hold('register_user');
  const registering = [client.locate(), client.locate()];
  await waitUntilHeld(control, 2, registrations.id);
  const starts = await hold('start_session');
  const starting = locations.map((id) => client.start(id));
  await waitUntilHeld(control, 2, starts.id);
  const sampled = await sample(hangMs);
  await control.clearFaults();
  await Promise.all(registering);
  expect((await Promise.all(starting)).map(({ status }) => status)).toEqual([201, 201]);
  return sampled;
}

async function sampleWhileWebhooksHang(hangMs: number): Promise<Sampled> {
  const sink = await startWebhookSink();
  try {
    await sink.behave({ '/hook': { hang: 1 } });
    await makeEndpoint(client, `${sink.url}/hook`);
    await announce(service.database, 3, 1);
    await waitFor('the receiver hangs', async () => (await sink.received()).length >= 3);
    return await sample(hangMs);
  } finally {
    await sink.stop();
  }
}

async function sampleWhileTokenHangs(hangMs: number): Promise<Sampled> {
  const { control } = service.sandbox!;
  await client.locate();
  const { id } = await hold('token');
  await control.revokeTokens();
  const registering = client.locate();
  await waitUntilHeld(control, 1, id);
  const sampled = await sample(hangMs);
  await control.clearFaults();
  await registering;
  return sampled;
}

const isClean = ({ samples, old }: Sampled): boolean => old.length === 0 && samples > LEAST_SAMPLES;

describe('R7: no transaction is open across a network call', () => {
  it.each(
    allAtLength([
      ['every call and a handler hang', sampleWhileCallsHang] as const,
      ['the renewal of the token hangs', sampleWhileTokenHangs] as const,
      ['a receiver of webhooks hangs', sampleWhileWebhooksHang] as const,
    ]),
  )('while %s', async (what, sampleWhile) => {
    const { samples, old } = await measureUntil(isClean, async () => {
      await start();
      return sampleWhile(HANG_MS);
    });
    promise('R7', {
      figure: `${old.length} older than ${OLDEST_MS} ms in ${samples} samples while ${what} for ${HANG_MS / 1_000} s`,
      bound: '0',
    });
    expect(old).toEqual([]);
    expect(samples).toBeGreaterThan(LEAST_SAMPLES);
  });

  itAtLength('turns red when a registration is sent inside a transaction', async () => {
    await start((app) => {
      const sender = app.get(RegistrationSender);
      const send = sender.send.bind(sender);
      sender.send = (claim, priority) =>
        app.get(Database).transaction(async (tx) => {
          await tx.query('SELECT 1 FROM users LIMIT 1');
          return send(claim, priority);
        });
    });
    expect((await sampleWhileCallsHang(SEEDED_HANG_MS)).old).not.toEqual([]);
  });
});
