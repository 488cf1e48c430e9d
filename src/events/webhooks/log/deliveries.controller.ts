import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentKey } from '../../../access/current-key.decorator.js';
import { RequireScope } from '../../../access/require-scope.decorator.js';
import { actorOf, type Principal } from '../../../access/scopes.js';
import { ApiPage } from '../../../platform/openapi/api-page.decorator.js';
import { ApiProblems } from '../../../platform/openapi/api-problems.decorator.js';
import type { Page } from '../../../platform/http/page.js';
import { ParseUuid } from '../../../platform/http/uuid.pipe.js';
import { formatSequence, toEventType } from '../../cloud-event.js';
import {
  ListDeliveriesQuery,
  RedeliveryRequest,
  RedeliveryView,
  WebhookDeliveryView,
} from './deliveries.dto.js';
import { WebhookDeliveriesStore, type StoredDelivery } from './deliveries.store.js';
import { planRedelivery } from './redelivery-request.js';
import { WebhookRedeliveryStore } from './redelivery.store.js';

@ApiTags('Webhooks')
@Controller()
export class WebhookDeliveriesController {
  constructor(
    private readonly deliveries: WebhookDeliveriesStore,
    private readonly redelivery: WebhookRedeliveryStore,
  ) {}

  @Get('webhook-deliveries')
  @RequireScope('webhooks:manage')
  @ApiOperation({
    operationId: 'listWebhookDeliveries',
    summary: 'List the deliveries to endpoints, newest first',
  })
  @ApiPage(WebhookDeliveryView)
  async list(@Query() { limit, cursor, ...filter }: ListDeliveriesQuery): Promise<Page<WebhookDeliveryView>> {
    const page = await this.deliveries.list(filter, { limit, ...(cursor !== undefined && { cursor }) });
    return { ...page, items: page.items.map(toView) };
  }

  @Get('webhook-deliveries/:id')
  @RequireScope('webhooks:manage')
  @ApiOperation({
    operationId: 'readWebhookDelivery',
    summary: 'Read the delivery of one event to one endpoint',
  })
  @ApiOkResponse({ type: WebhookDeliveryView })
  @ApiProblems('not_found')
  async read(@Param('id', ParseUuid) id: string): Promise<WebhookDeliveryView> {
    return toView(await this.deliveries.get(id));
  }

  @Post('webhook-deliveries/:id/redeliver')
  @HttpCode(202)
  @RequireScope('webhooks:manage')
  @ApiOperation({
    operationId: 'redeliverWebhookDelivery',
    summary: 'Send an event to an endpoint again',
    description:
      'Uses the same `webhook-id`, whatever its status. If the endpoint is disabled, the event is sent when the endpoint is enabled.',
  })
  @ApiAcceptedResponse({ type: WebhookDeliveryView, description: 'The pending delivery' })
  @ApiProblems('not_found')
  async redeliverOne(
    @Param('id', ParseUuid) id: string,
    @CurrentKey() key: Principal,
  ): Promise<WebhookDeliveryView> {
    await this.redelivery.redeliverOne(id, actorOf(key));
    return toView(await this.deliveries.get(id));
  }

  @Post('webhook-endpoints/:id/redeliver')
  @HttpCode(202)
  @RequireScope('webhooks:manage')
  @ApiOperation({
    operationId: 'redeliverToWebhookEndpoint',
    summary: 'Send selected events or a range of events to an endpoint again',
    description:
      'Uses the same `webhook-id` as before and keeps the order within a subject. A range also includes events that the endpoint ' +
      'never received, such as those before its creation.',
  })
  @ApiAcceptedResponse({
    type: RedeliveryView,
    description: 'The number of pending events, and the next cursor',
  })
  @ApiProblems('not_found')
  async redeliver(
    @Param('id', ParseUuid) id: string,
    @Body() request: RedeliveryRequest,
    @CurrentKey() key: Principal,
  ): Promise<RedeliveryView> {
    const plan = planRedelivery(request);
    const { count, next } =
      plan.kind === 'these'
        ? await this.redelivery.redeliverThese(id, plan.deliveryIds, actorOf(key))
        : await this.redelivery.redeliverRange(id, plan.range, actorOf(key));
    return { redelivered: count, next: next === null ? null : formatSequence(next) };
  }
}

const toView = (delivery: StoredDelivery): WebhookDeliveryView => ({
  id: delivery.id,
  endpointId: delivery.endpointId,
  eventId: delivery.eventId,
  type: toEventType(delivery.name),
  sequence: formatSequence(delivery.sequence),
  subject: delivery.subject,
  status: delivery.status,
  attempts: delivery.attempts,
  nextAttemptAt: delivery.nextAttemptAt,
  lastAttemptAt: delivery.lastAttemptAt,
  lastStatus: delivery.lastStatus,
  lastError: delivery.lastError,
  lastAnswer: delivery.lastAnswer,
  createdAt: delivery.createdAt,
});
