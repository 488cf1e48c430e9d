import { randomUUID } from 'node:crypto';
import type { INestApplicationContext, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { NewEvent } from '../../../src/events/catalogue.rules.js';
import { BrokerModule } from '../../../src/broker/broker.module.js';
import { HandlersModule } from '../../../src/handlers/handlers.module.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { ActiveCallers } from '../../../src/access/active-callers.service.js';
import { ApiKeysStore } from '../../../src/access/api-keys.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { Listener } from '../../../src/platform/database/connection/listen.js';
import { Environment } from '../../../src/platform/env/environment.js';
import { HeldRequests } from '../../../src/platform/http/held-requests.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { DueWork } from '../../../src/platform/tasks/due-work.js';
import { Tasks } from '../../../src/platform/tasks/tasks.service.js';
import { TasksStore } from '../../../src/platform/tasks/tasks.store.js';
import { environmentFor } from '../../setup/test-environment.js';

export async function startWorker(
  databaseUrl: string,
  handlers: readonly Type[],
  overrides: Record<string, string> = {},
): Promise<INestApplicationContext> {
  const environment = environmentFor(databaseUrl, { ROLE: 'worker', ...overrides });
  const shared = [
    Database,
    Listener,
    DueWork,
    SchedulerRegistry,
    TasksStore,
    Tasks,
    Metrics,
    HeldRequests,
    ApiKeysStore,
    ActiveCallers,
  ];
  const platform = {
    module: class Platform {},
    global: true,
    providers: [{ provide: Environment, useValue: environment }, ...shared],
    exports: [Environment, ...shared],
  };
  const root = {
    module: class Worker {},
    imports: [platform, HandlersModule, BrokerModule],
    providers: [...handlers],
  };
  return NestFactory.createApplicationContext(root, { logger: ['error', 'fatal'], abortOnError: false });
}

/** No event gets a sequence until the transaction ends. */
export const LOCK_SEQUENCING = `SELECT pg_advisory_xact_lock(hashtextextended('pv-onboarding/events.sequence', 0))`;

/** Returns an event about the session, with `marker` in `data.rule`. */
export function sessionEvent(
  name: Exclude<
    NewEvent['name'],
    | `user.${string}`
    | `inverter.${string}`
    | `invitation.${string}`
    | `campaign.${string}`
    | `remote.${string}`
    | `webhook_endpoint.${string}`
    | 'session.closed'
    | 'session.start_failed'
    | `consent.${string}`
    | 'stall.raised'
    | 'stall.cleared'
  >,
  sessionId: string,
  marker = 'test',
): NewEvent {
  const data = {
    sessionId,
    userId: randomUUID(),
    gridLocationId: randomUUID(),
    tenantReference: 'customer-1',
    brand: null,
    metadata: {},
    state: 'online',
    previousState: 'awaiting_installation',
    basis: 'observed',
    rule: marker,
    inverters: [],
    invertersTotal: 0,
    observedAt: '2026-11-20T09:00:00.000Z',
  } as const;
  return { name, subject: sessionId, data };
}

export const appendOnline = (database: Database, sessionId: string, ...markers: string[]): Promise<void> =>
  database.transaction(async (tx) => {
    await tx.query('SET LOCAL lock_timeout = 0');
    await appendEvents(
      tx,
      markers.map((marker) => sessionEvent('session.online', sessionId, marker)),
    );
  });
