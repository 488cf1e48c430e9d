import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentKey, Operation } from '../../access/operation.decorator.js';
import { actorOf, type Principal } from '../../access/scopes.js';
import { ApiPage, mapPage, type Page } from '../../platform/http/page.js';
import { found } from '../../platform/problem/problem.js';
import { ParseUuid } from '../../platform/http/parameters.js';
import { formatSequence, toEventType } from '../../events/cloud-event.js';
import {
  RedeliveryRequest,
  RedeliveryView,
  WebhookDeliveryDetailView,
  WebhookDeliveryView,
  type StoredDelivery,
} from './deliveries.dto.js';
import { DeliveriesQuery } from './deliveries.list.js';
import { WebhookDeliveriesStore } from './deliveries.store.js';
import { WebhookEndpoints } from '../endpoints/endpoints.service.js';
import { Query } from '../../platform/http/query.decorator.js';

@ApiTags('Webhooks')
@Controller()
export class WebhookDeliveriesController {
  constructor(
    private readonly deliveries: WebhookDeliveriesStore,
    private readonly endpoints: WebhookEndpoints,
  ) {}

  @Get('webhook-deliveries')
  @Operation('webhooks:manage', {
    command: 'webhooks deliveries',
    columns: {
      ID: 'id',
      STATUS: 'status',
      TRIES: 'attempts',
      LAST: 'lastStatus',
      AGE: 'createdAt',
      EVENT: 'type',
    },
    summary: 'List the deliveries to endpoints, newest first',
    description: 'Of deliveries created at the same instant, the later event comes first.',
  })
  @ApiPage(WebhookDeliveryView)
  async listWebhookDeliveries(@Query() query: DeliveriesQuery): Promise<Page<WebhookDeliveryView>> {
    return mapPage(await this.deliveries.list(query), toView);
  }

  @Get('webhook-deliveries/:id')
  @Operation('webhooks:manage', {
    command: 'webhooks delivery',
    summary: 'Read the delivery of one event to one endpoint',
    description: 'Shows each attempt and when the next one is due.',
  })
  @ApiOkResponse({ type: WebhookDeliveryDetailView })
  async readWebhookDelivery(@Param('id', ParseUuid) id: string): Promise<WebhookDeliveryDetailView> {
    const { previousAttempts, ...delivery } = found(await this.deliveries.find(id), `webhook delivery ${id}`);
    const attempts = previousAttempts.map((each) => ({ ...each, attemptedAt: new Date(each.attemptedAt) }));
    return WebhookDeliveryDetailView.of({ ...toView(delivery), previousAttempts: attempts });
  }

  @Post('webhook-deliveries/:id/redeliver')
  @HttpCode(202)
  @Operation('webhooks:manage', {
    command: false,
    bulk: true,
    summary: 'Send an event to an endpoint again',
    description:
      'Uses the same `webhook-id`, whatever its status. If the endpoint is disabled, the event is sent when the endpoint is enabled.',
  })
  @ApiAcceptedResponse({ type: WebhookDeliveryDetailView, description: 'The pending delivery' })
  async redeliverWebhookDelivery(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal) {
    found(await this.deliveries.redeliverOne(id, actorOf(key)), `webhook delivery ${id}`);
    return this.readWebhookDelivery(id);
  }

  @Post('webhook-endpoints/:id/redeliver')
  @HttpCode(202)
  @Operation('webhooks:manage', {
    command: 'webhooks redeliver',
    summary: 'Send selected events or a range of events to an endpoint again',
    description:
      'Uses the same `webhook-id` as before and keeps the order within a subject. A range also includes events that the endpoint ' +
      'never received, such as those before its creation.',
  })
  @ApiAcceptedResponse({
    type: RedeliveryView,
    description: 'The number of pending events, and the next cursor',
  })
  async redeliverToWebhookEndpoint(
    @Param('id', ParseUuid) id: string,
    @Body() request: RedeliveryRequest,
    @CurrentKey() key: Principal,
  ): Promise<RedeliveryView> {
    return this.endpoints.redeliver(id, request, actorOf(key));
  }
}

const toView = ({ name, sequence, position, ...delivery }: StoredDelivery): WebhookDeliveryView =>
  WebhookDeliveryView.of({ ...delivery, type: toEventType(name), sequence: formatSequence(sequence) });
