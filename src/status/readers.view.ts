import { ApiProperty } from '@nestjs/swagger';
import type { Backlog } from './status.store.js';

const count = { type: 'integer' } as const;
const seconds = { type: 'number', description: 'In seconds; 0 when nothing waits' } as const;
const instant = { type: String, format: 'date-time', nullable: true } as const;

export class HandlersView {
  @ApiProperty({ ...count, description: 'Events that handlers in the process have not finished yet' })
  undelivered: number;

  @ApiProperty({ ...count, description: 'Of these, how many have failed at least once' })
  failing: number;

  @ApiProperty(seconds)
  oldestUndeliveredSeconds: number;
}

export class WebhooksView {
  @ApiProperty({ ...count, description: 'Endpoints that are enabled' })
  endpoints: number;

  @ApiProperty({ ...count, description: 'Of these, how many failed at the last attempt' })
  failingEndpoints: number;

  @ApiProperty({
    ...count,
    description: 'Disabled by themselves: they answered 410, or have been failing for days',
  })
  disabledEndpoints: number;

  @ApiProperty({
    ...count,
    description:
      'Events that the endpoint furthest behind has not been given yet, whether it wants them or not',
  })
  unread: number;

  @ApiProperty({
    ...count,
    description: 'Deliveries to enabled endpoints that wait to be made, or made again',
  })
  undelivered: number;

  @ApiProperty({ ...count, description: 'Of these, how many have failed at least once' })
  failing: number;

  @ApiProperty(seconds)
  oldestUndeliveredSeconds: number;
}

export class StreamsView {
  @ApiProperty({ ...count, description: 'Streams that are open at the replica that answers' })
  open: number;
}

export class BrokerView {
  @ApiProperty({ enum: ['nats'] })
  kind: string;

  @ApiProperty({ type: Boolean, description: 'Whether a process holds the right to publish now' })
  isPublishing: boolean;

  @ApiProperty({ ...count, description: 'Events that the broker has not confirmed yet' })
  unpublished: number;

  @ApiProperty(seconds)
  oldestUnpublishedSeconds: number;

  @ApiProperty({ ...instant, description: 'When the broker confirmed an event last' })
  publishedAt: Date | null;

  @ApiProperty({ ...instant, description: 'Since when it has taken no event; null while it does' })
  failingSince: Date | null;

  @ApiProperty({ type: String, nullable: true })
  lastError: string | null;
}

export class ReadersView {
  @ApiProperty({ type: HandlersView, description: 'Handlers in the process' })
  handlers: HandlersView;

  @ApiProperty({ type: WebhooksView })
  webhooks: WebhooksView;

  @ApiProperty({
    type: StreamsView,
    description: 'Streams keep their place with the reader, so they have no backlog',
  })
  streams: StreamsView;

  @ApiProperty({ type: BrokerView, nullable: true, description: 'Null where there is no broker' })
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
