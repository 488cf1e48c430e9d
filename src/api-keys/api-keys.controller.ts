import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiTags } from '@nestjs/swagger';
import { ApiPage, type Page } from '../platform/http/page.js';
import { ParseUuid } from '../platform/http/parameters.js';
import { found } from '../platform/problem/problem.js';
import { ApiKeyView, CreatedApiKeyView, NewApiKey } from './api-keys.dto.js';
import { Authentication } from '../access/authentication.service.js';
import { CurrentKey, Operation } from '../access/operation.decorator.js';
import { IdempotencyKeys } from '../idempotency/idempotency-keys.store.js';
import { ApiKeysQuery, ManagedKeysStore } from './managed-keys.store.js';
import { actorOf, type Principal } from '../access/scopes.js';
import { Query } from '../platform/http/query.decorator.js';

@ApiTags('API keys')
@Controller('api-keys')
export class ApiKeysController {
  constructor(
    private readonly keys: ManagedKeysStore,
    private readonly authentication: Authentication,
    private readonly idempotencyKeys: IdempotencyKeys,
  ) {}

  @Post()
  @Operation('admin', {
    command: false,
    summary: 'Create an API key for an app',
    description: 'The key is stored only as a hash, so the response is the only one that contains it.',
  })
  @ApiCreatedResponse({ description: 'The key. It is shown only once', type: CreatedApiKeyView })
  async createApiKey(
    @Body() { name, scopes }: NewApiKey,
    @CurrentKey() principal: Principal,
  ): Promise<CreatedApiKeyView> {
    return this.idempotencyKeys.once((tx) => this.keys.create(tx, name, scopes, actorOf(principal)));
  }

  @Get()
  @Operation('admin', {
    command: false,
    summary: 'List the API keys, newest first, without their values',
    description: 'Includes the revoked keys, so that the history of a key can be found.',
  })
  @ApiPage(ApiKeyView)
  listApiKeys(@Query() query: ApiKeysQuery): Promise<Page<ApiKeyView>> {
    return this.keys.list(query);
  }

  @Delete(':id')
  @HttpCode(204)
  @Operation('admin', {
    command: false,
    summary: 'Revoke an API key',
    description: 'Cannot be undone. Revoking a key again changes nothing.',
  })
  @ApiNoContentResponse({ description: 'The key is revoked; every replica refuses it within 5 seconds' })
  async revokeApiKey(@Param('id', ParseUuid) id: string, @CurrentKey() principal: Principal): Promise<void> {
    found(await this.keys.find(id), `API key ${id}`);
    await this.keys.revoke(id, actorOf(principal));
    this.authentication.expireAll();
  }
}
