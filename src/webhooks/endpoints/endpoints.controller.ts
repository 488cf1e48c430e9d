import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentKey, Operation } from '../../access/operation.decorator.js';
import { actorOf, type Principal } from '../../access/scopes.js';
import { ApiPage, type Page } from '../../platform/http/page.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import { ParseUuid } from '../../platform/http/parameters.js';
import {
  CreatedWebhookEndpointView,
  NewWebhookEndpoint,
  RotatedSecretView,
  SecretRotation,
  WebhookEndpointChange,
  WebhookEndpointView,
  WebhookTestView,
} from './endpoints.dto.js';
import { existing, WebhookEndpoints } from './endpoints.service.js';
import { WebhookEndpointsQuery, WebhookEndpointsStore } from './endpoints.store.js';
import { Query } from '../../platform/http/query.decorator.js';

@ApiTags('Webhooks')
@Controller('webhook-endpoints')
export class WebhookEndpointsController {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly store: WebhookEndpointsStore,
  ) {}

  @Post()
  @Operation('webhooks:manage', {
    command: 'webhooks create',
    summary: 'Create an endpoint to which events are sent',
    description:
      'Sends every event from the next one on, at least once, in order within a `subject`, signed according to Standard Webhooks.',
  })
  @ApiCreatedResponse({
    description: 'The endpoint with its secret, which is shown only once',
    type: CreatedWebhookEndpointView,
  })
  @ApiProblems('webhook_endpoint_limit')
  createWebhookEndpoint(
    @Body() input: NewWebhookEndpoint,
    @CurrentKey() key: Principal,
  ): Promise<CreatedWebhookEndpointView> {
    return this.endpoints.create(input, actorOf(key));
  }

  @Get()
  @Operation('webhooks:manage', {
    command: 'webhooks list',
    columns: {
      ID: 'id',
      STATE: 'enabled',
      PENDING: 'pending',
      DESCRIPTION: 'description:16',
      ORIGIN: 'url:25',
    },
    summary: 'List the endpoints, newest first',
    description: 'Without the values of secrets and headers.',
  })
  @ApiPage(WebhookEndpointView)
  listWebhookEndpoints(@Query() query: WebhookEndpointsQuery): Promise<Page<WebhookEndpointView>> {
    return this.store.list(query);
  }

  @Get(':id')
  @Operation('webhooks:manage', {
    command: 'webhooks show',
    summary: 'Read an endpoint and its recent health',
    description: 'Without the values of its secrets and headers.',
  })
  @ApiOkResponse({ type: WebhookEndpointView })
  async readWebhookEndpoint(@Param('id', ParseUuid) id: string): Promise<WebhookEndpointView> {
    return existing(id, await this.store.find(id));
  }

  @Patch(':id')
  @Operation('webhooks:manage', {
    command: 'webhooks update',
    summary: 'Change an endpoint, or disable or enable it',
    description:
      'Absent fields are unchanged; `headers` replaces all headers. A new URL, new headers or enabling makes all waiting retries due at once.',
  })
  @ApiOkResponse({ type: WebhookEndpointView })
  changeWebhookEndpoint(
    @Param('id', ParseUuid) id: string,
    @Body() change: WebhookEndpointChange,
    @CurrentKey() key: Principal,
  ): Promise<WebhookEndpointView> {
    return this.endpoints.change(id, change, actorOf(key));
  }

  @Delete(':id')
  @HttpCode(204)
  @Operation('webhooks:manage', {
    command: 'webhooks delete',
    confirm:
      'this deletes the endpoint {id}, its {pending} pending deliveries and the log of all its deliveries. This cannot be undone.',
    summary: 'Delete an endpoint and the log of its deliveries',
    description: 'Pending deliveries are dropped. To pause an endpoint, disable it.',
  })
  @ApiNoContentResponse({ description: 'Deleted. After at most one second, no more events are sent to it' })
  async deleteWebhookEndpoint(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal) {
    existing(id, await this.store.delete(id, actorOf(key)));
  }

  @Post(':id/rotate-secret')
  @HttpCode(200)
  @Operation('webhooks:manage', {
    command: 'webhooks rotate-secret',
    summary: 'Replace the secret of an endpoint',
    description:
      'Both secrets sign during the overlap, so that the receiver can switch without a gap. Previously rotated secrets sign until their own overlap ends.',
  })
  @ApiBody({ type: SecretRotation, required: false })
  @ApiOkResponse({ type: RotatedSecretView })
  rotateWebhookSecret(
    @Param('id', ParseUuid) id: string,
    @Body() rotation: SecretRotation,
    @CurrentKey() key: Principal,
  ): Promise<RotatedSecretView> {
    return this.endpoints.rotateSecret(id, rotation, actorOf(key));
  }

  @Post(':id/test')
  @HttpCode(200)
  @Operation('webhooks:manage', {
    command: 'webhooks test',
    summary: 'Send a test event now and return the response',
    description:
      'Makes one attempt with an event of type `pv.webhook_endpoint.test.v1`, signed like any other, even if the endpoint is disabled. It is not listed as a delivery. If the response is a 2xx and the endpoint is enabled, its waiting retries become due, and its `failures` become 0.',
  })
  @ApiOkResponse({
    type: WebhookTestView,
    description: 'The result, whether the attempt succeeded or failed',
  })
  testWebhookEndpoint(
    @Param('id', ParseUuid) id: string,
    @CurrentKey() key: Principal,
  ): Promise<WebhookTestView> {
    return this.endpoints.test(id, actorOf(key));
  }
}
