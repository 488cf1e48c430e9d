import { counted } from '../../platform/counted.rules.js';
import type { Facts } from '../facts.view.js';
import type { Reason } from './reason.js';

const UNSEQUENCED_SECONDS = 60;
const BEHIND_SECONDS = 900;
/** A shorter failure proves little: a single failed attempt is retried within this time. */
const FAILING_SECONDS = 60;
const HANDLER_FAILING_SECONDS = 300;

export const REASONS_OF_EVENTS = {
  events_unsequenced: {
    severity: 'critical',
    title: 'Events wait for their sequence',
    runbook: 'events-do-not-arrive',
    waitsFor: 'us',
    alertAfter: '5m',
    find: ({ outbox: { unsequenced, oldestUnsequencedSeconds } }) =>
      oldestUnsequencedSeconds > UNSEQUENCED_SECONDS &&
      `${counted(unsequenced, 'event has', 'events have')} no sequence, the oldest for ${Math.round(oldestUnsequencedSeconds)} s`,
    began: ({ outbox }) => [outbox.oldestUnsequencedSeconds],
  },
  reader_behind: {
    severity: 'warning',
    title: 'Events do not reach a reader',
    runbook: 'events-do-not-arrive',
    waitsFor: 'us',
    alertAfter: '5m',
    find: ({ outbox }) =>
      Object.entries(lagsOf(outbox))
        .filter(([, age]) => age > BEHIND_SECONDS)
        .map(([reader, age]) => `${reader}: an event has not arrived for ${Math.round(age)} s`),
    began: ({ outbox }) => Object.values(lagsOf(outbox)),
  },
  handlers_failing: {
    severity: 'warning',
    title: 'Event handlers fail',
    runbook: 'events-do-not-arrive',
    waitsFor: 'us',
    alertAfter: '10m',
    find: ({ outbox: { readers } }) =>
      readers.handlers.oldestFailingSeconds > HANDLER_FAILING_SECONDS &&
      `handlers have failed on ${counted(readers.handlers.failing, 'event', 'events')}, the oldest of ${Math.round(readers.handlers.oldestFailingSeconds)} s ago`,
    began: ({ outbox: { readers } }) => [readers.handlers.oldestFailingSeconds],
  },
  broker_failing: {
    severity: 'warning',
    title: 'The message broker accepts no event',
    runbook: 'events-do-not-arrive',
    waitsFor: 'us',
    alertAfter: '1m',
    find: ({ outbox: { readers } }) =>
      readers.broker !== null &&
      readers.broker.failingSeconds > FAILING_SECONDS &&
      `the broker has accepted no event for ${Math.round(readers.broker.failingSeconds)} s: ${readers.broker.lastError}`,
    began: ({ outbox }) => [outbox.readers.broker?.failingSince ?? 0],
  },
  webhooks_failing: {
    severity: 'warning',
    title: 'Webhook endpoints fail',
    runbook: 'events-do-not-arrive',
    waitsFor: 'tenant',
    find: ({ outbox }) => {
      const { endpoints, failingEndpoints, oldestFailingSeconds } = outbox.readers.webhooks;
      return (
        failingEndpoints > 0 &&
        `${failingEndpoints} of ${counted(endpoints, 'endpoint fails', 'endpoints fail')}, the longest for ${Math.round(oldestFailingSeconds)} s`
      );
    },
    began: ({ outbox }) => [outbox.readers.webhooks.oldestFailingSeconds],
  },
  webhooks_disabled: {
    severity: 'warning',
    title: 'Webhook endpoints were disabled automatically',
    runbook: 'events-do-not-arrive',
    waitsFor: 'tenant',
    find: ({ outbox: { readers } }) =>
      readers.webhooks.disabledEndpoints > 0 &&
      `${counted(readers.webhooks.disabledEndpoints, 'endpoint was', 'endpoints were')} disabled automatically`,
  },
} satisfies Record<string, Reason>;

/** Returns for how long each reader has not got an event. */
const lagsOf = ({ readers: { handlers, webhooks, broker } }: Facts['outbox']) => ({
  handlers: handlers.oldestUndeliveredSeconds,
  webhooks: webhooks.oldestUndeliveredSeconds,
  broker: broker?.oldestUnpublishedSeconds ?? 0,
});
