import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import { ApiPage } from '../platform/openapi/api-page.decorator.js';
import { PageQuery, type Page } from '../platform/http/page.js';
import { ParseUuid } from '../platform/http/uuid.pipe.js';
import { ApiKeyView, CreatedApiKeyView, NewApiKey } from './api-keys.dto.js';
import { ApiKeysStore } from './api-keys.store.js';
import { CurrentKey } from './current-key.decorator.js';
import { RequireScope } from './require-scope.decorator.js';
import { actorOf, type Principal } from './scopes.js';

@ApiTags('API keys')
@Controller('api-keys')
export class ApiKeysController {
  constructor(private readonly keys: ApiKeysStore) {}

  @Post()
  @RequireScope('admin')
  @ApiOperation({ operationId: 'createApiKey', summary: 'Create an API key for an app' })
  @ApiCreatedResponse({ description: 'The key. It is shown only once', type: CreatedApiKeyView })
  create(
    @Body() { name, scopes }: NewApiKey,
    @CurrentKey() principal: Principal,
  ): Promise<CreatedApiKeyView> {
    return this.keys.create(name, scopes, actorOf(principal));
  }

  @Get()
  @RequireScope('admin')
  @ApiOperation({
    operationId: 'listApiKeys',
    summary: 'List the API keys, newest first, without their values',
  })
  @ApiPage(ApiKeyView)
  list(@Query() query: PageQuery): Promise<Page<ApiKeyView>> {
    return this.keys.list(query);
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('admin')
  @ApiOperation({ operationId: 'revokeApiKey', summary: 'Revoke an API key' })
  @ApiNoContentResponse({ description: 'The key is revoked; every replica refuses it within 5 seconds' })
  @ApiProblems('not_found')
  revoke(@Param('id', ParseUuid) id: string, @CurrentKey() principal: Principal): Promise<void> {
    return this.keys.revoke(id, actorOf(principal));
  }
}
