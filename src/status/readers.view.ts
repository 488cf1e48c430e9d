import { ApiProperty } from '@nestjs/swagger';
import type { Backlog } from './status.store.js';

const count = { type: 'integer' } as const;
const seconds = { type: 'number', description: 'In seconds; 0 if nothing waits' } as const;
const instant = { type: String, format: 'date-time', nullable: true } as const;

export class HandlersView {
  @ApiProperty({
    ...count,
    description: 'Deliveries of events that in-process handlers have not completed yet',
  })
  undelivered: number;

  @ApiProperty({ ...count, description: 'Deliveries among these that have failed at least once' })
  failing: number;

  @ApiProperty(seconds)
  oldestUndeliveredSeconds: number;
}

export class WebhooksView {
  @ApiProperty({ ...count, description: 'Enabled endpoints' })
  endpoints: number;

  @ApiProperty({ ...count, description: 'Enabled endpoints whose last attempt failed' })
  failingEndpoints: number;

  @ApiProperty({
    ...count,
    description: 'Endpoints disabled automatically: they returned 410 or have been failing for days',
  })
  disabledEndpoints: number;

  @ApiProperty({
    ...count,
    description: 'Events not yet offered to the enabled endpoint that is furthest behind, subscribed or not',
  })
  unread: number;

  @ApiProperty({
    ...count,
    description: 'Deliveries to enabled endpoints that wait for their first attempt or a retry',
  })
  undelivered: number;

  @ApiProperty({ ...count, description: 'Deliveries among these that have failed at least once' })
  failing: number;

  @ApiProperty(seconds)
  oldestUndeliveredSeconds: number;
}

export class StreamsView {
  @ApiProperty({ ...count, description: 'Streams open at the responding replica' })
  open: number;
}

export class BrokerView {
  @ApiProperty({ enum: ['nats'] })
  kind: string;

  @ApiProperty({ type: Boolean, description: 'Whether a process has the lease for publishing now' })
  isPublishing: boolean;

  @ApiProperty({ ...count, description: 'Events that the broker has not confirmed yet' })
  unpublished: number;

  @ApiProperty(seconds)
  oldestUnpublishedSeconds: number;

  @ApiProperty({ ...instant, description: 'When the broker last confirmed an event' })
  publishedAt: Date | null;

  @ApiProperty({
    ...instant,
    description: 'Since when the broker has accepted no event; null while it accepts them',
  })
  failingSince: Date | null;

  @ApiProperty({ type: String, nullable: true })
  lastError: string | null;
}

export class ReadersView {
  @ApiProperty({ type: HandlersView, description: 'In-process handlers' })
  handlers: HandlersView;

  @ApiProperty({ type: WebhooksView })
  webhooks: WebhooksView;

  @ApiProperty({
    type: StreamsView,
    description: 'Each reader of a stream stores its own place, so streams have no backlog',
  })
  streams: StreamsView;

  @ApiProperty({ type: BrokerView, nullable: true, description: 'null if there is no broker' })
  broker: BrokerView | null;
}

export function toReadersView(backlog: Backlog, openStreams: number): ReadersView {
  const { undelivered, failing, oldestUndeliveredSeconds } = backlog;
  return {
    handlers: { undelivered, failing, oldestUndeliveredSeconds },
    webhooks: {
      endpoints: backlog.endpoints,
      failingEndpoints: backlog.failingEndpoints,
      disabledEndpoints: backlog.disabledEndpoints,
      unread: backlog.unreadByEndpoints,
      undelivered: backlog.webhooksUndelivered,
      failing: backlog.webhooksFailing,
      oldestUndeliveredSeconds: backlog.oldestWebhookSeconds,
    },
    streams: { open: openStreams },
    broker:
      backlog.broker === null
        ? null
        : {
            kind: backlog.broker.kind,
            isPublishing: backlog.broker.isPublishing,
            unpublished: backlog.unpublished,
            oldestUnpublishedSeconds: backlog.oldestUnpublishedSeconds,
            publishedAt: asDate(backlog.broker.publishedAt),
            failingSince: asDate(backlog.broker.failingSince),
            lastError: backlog.broker.lastError,
          },
  };
}

// Times in JSON arrive as text, in another format than in the rest of the response.
const asDate = (text: string | null): Date | null => (text === null ? null : new Date(text));
