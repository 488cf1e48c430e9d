import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentKey } from '../../../access/current-key.decorator.js';
import { RequireScope } from '../../../access/require-scope.decorator.js';
import { actorOf, type Principal } from '../../../access/scopes.js';
import { ApiPage } from '../../../platform/openapi/api-page.decorator.js';
import { ApiProblems } from '../../../platform/openapi/api-problems.decorator.js';
import { PageQuery, type Page } from '../../../platform/http/page.js';
import { ParseUuid } from '../../../platform/http/uuid.pipe.js';
import { toEventType } from '../../cloud-event.js';
import {
  CreatedWebhookEndpointView,
  NewWebhookEndpoint,
  RotatedSecretView,
  SecretRotation,
  WebhookEndpointChange,
  WebhookEndpointView,
} from './endpoints.dto.js';
import { WebhookEndpoints } from './endpoints.service.js';
import type { StoredEndpoint } from './endpoints.store.js';
import { WebhookTestView } from './test.dto.js';
import { WebhookTest } from './test.service.js';

@ApiTags('Webhooks')
@Controller('webhook-endpoints')
export class WebhookEndpointsController {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly tests: WebhookTest,
  ) {}

  @Post()
  @RequireScope('webhooks:manage')
  @ApiOperation({
    operationId: 'createWebhookEndpoint',
    summary: 'Create an endpoint to which events are sent',
    description:
      'Sends every event from the next one on, at least once, in order within a `subject`, signed according to Standard Webhooks.',
  })
  @ApiCreatedResponse({
    description: 'The endpoint with its secret, which is shown only once',
    type: CreatedWebhookEndpointView,
  })
  @ApiProblems('webhook_endpoint_limit')
  async create(
    @Body() input: NewWebhookEndpoint,
    @CurrentKey() key: Principal,
  ): Promise<CreatedWebhookEndpointView> {
    const { secret, endpoint } = await this.endpoints.create(input, actorOf(key));
    return { ...toView(endpoint), secret };
  }

  @Get()
  @RequireScope('webhooks:manage')
  @ApiOperation({ operationId: 'listWebhookEndpoints', summary: 'List the endpoints, newest first' })
  @ApiPage(WebhookEndpointView)
  async list(@Query() query: PageQuery): Promise<Page<WebhookEndpointView>> {
    const page = await this.endpoints.list(query);
    return { ...page, items: page.items.map(toView) };
  }

  @Get(':id')
  @RequireScope('webhooks:manage')
  @ApiOperation({
    operationId: 'readWebhookEndpoint',
    summary: 'Read an endpoint and its recent health',
  })
  @ApiOkResponse({ type: WebhookEndpointView })
  @ApiProblems('not_found')
  async read(@Param('id', ParseUuid) id: string): Promise<WebhookEndpointView> {
    return toView(await this.endpoints.get(id));
  }

  @Patch(':id')
  @RequireScope('webhooks:manage')
  @ApiOperation({
    operationId: 'changeWebhookEndpoint',
    summary: 'Change an endpoint, or disable or enable it',
    description:
      'Absent fields are unchanged; `headers` replaces all headers. A new URL, new headers or enabling makes all waiting retries due at once.',
  })
  @ApiOkResponse({ type: WebhookEndpointView })
  @ApiProblems('not_found')
  async change(
    @Param('id', ParseUuid) id: string,
    @Body() change: WebhookEndpointChange,
    @CurrentKey() key: Principal,
  ): Promise<WebhookEndpointView> {
    return toView(await this.endpoints.change(id, change, actorOf(key)));
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('webhooks:manage')
  @ApiOperation({
    operationId: 'deleteWebhookEndpoint',
    summary: 'Delete an endpoint and the log of its deliveries',
  })
  @ApiNoContentResponse({ description: 'No event is sent to it from one second later on' })
  @ApiProblems('not_found')
  delete(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal): Promise<void> {
    return this.endpoints.delete(id, actorOf(key));
  }

  @Post(':id/rotate-secret')
  @HttpCode(200)
  @RequireScope('webhooks:manage')
  @ApiOperation({
    operationId: 'rotateWebhookSecret',
    summary: 'Replace the secret of an endpoint',
    description:
      'Both secrets sign during the overlap, so that the receiver can switch without a gap. Previously rotated secrets sign until their own overlap ends.',
  })
  @ApiOkResponse({ type: RotatedSecretView })
  @ApiProblems('not_found')
  rotateSecret(
    @Param('id', ParseUuid) id: string,
    @Body() rotation: SecretRotation,
    @CurrentKey() key: Principal,
  ): Promise<RotatedSecretView> {
    return this.endpoints.rotateSecret(id, rotation, actorOf(key));
  }

  @Post(':id/test')
  @HttpCode(200)
  @RequireScope('webhooks:manage')
  @ApiOperation({
    operationId: 'testWebhookEndpoint',
    summary: 'Send a test event now and return the response',
    description:
      'Makes one attempt with an event of type `pv.webhook_endpoint.test.v1`, signed like any other, even if the endpoint is disabled. It is not listed as a delivery and does not change the endpoint.',
  })
  @ApiOkResponse({
    type: WebhookTestView,
    description: 'The result, whether the attempt succeeded or failed',
  })
  @ApiProblems('not_found')
  test(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal): Promise<WebhookTestView> {
    return this.tests.send(id, actorOf(key));
  }
}

const toView = ({ types, ...endpoint }: StoredEndpoint): WebhookEndpointView => ({
  id: endpoint.id,
  url: endpoint.url,
  types: types.map(toEventType),
  description: endpoint.description,
  headerNames: [...endpoint.headerNames],
  enabled: endpoint.disabledAt === null,
  disabledAt: endpoint.disabledAt,
  disabledReason: endpoint.disabledReason,
  failures: endpoint.failures,
  failingSince: endpoint.failingSince,
  lastDeliveredAt: endpoint.lastDeliveredAt,
  previousSecretUntil: endpoint.previousSecretUntil,
  pending: endpoint.pending,
  unread: endpoint.unread,
  createdAt: endpoint.createdAt,
  updatedAt: endpoint.updatedAt,
});
