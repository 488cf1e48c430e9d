import { Body, Controller, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { IdempotencyKeys } from '../idempotency/idempotency-keys.store.js';
import { CurrentKey, Operation } from '../access/operation.decorator.js';
import { Operations } from '../access/operations.js';
import { requireScopes, SCOPES, type Principal } from '../access/scopes.js';
import { ParseUuid } from '../platform/http/parameters.js';
import { invalidRequest } from '../platform/http/validation.js';
import { LOCATION } from '../platform/openapi/response-headers.js';
import { found } from '../platform/problem/problem.js';
import { BulkActionView, MAX_IDS, NewBulkAction } from './bulk-actions.dto.js';
import { BulkActionsStore } from './bulk-actions.store.js';
import { BulkRunner } from './bulk-runner.service.js';

@ApiTags('Operation')
@Controller('bulk-actions')
export class BulkActionsController {
  constructor(
    private readonly operations: Operations,
    private readonly store: BulkActionsStore,
    private readonly runner: BulkRunner,
    private readonly keys: IdempotencyKeys,
  ) {}

  @Post()
  @HttpCode(202)
  @Operation([], {
    anyScope: SCOPES,
    summary: 'Do an operation for many ids',
    description:
      `For at most ${MAX_IDS.toLocaleString('en')} ids, and for operations with \`x-bulk\`, with the scopes of the operation. Each id is ` +
      'acted on once, in the order given, also if the caller goes away or a process dies, and gets what a request of its own would get. ' +
      'What no longer exists or has changed so that the operation does not apply is skipped.',
  })
  @ApiAcceptedResponse({ type: BulkActionView, headers: LOCATION })
  async createBulkAction(
    @Body() input: NewBulkAction,
    @CurrentKey() key: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BulkActionView> {
    const { bulk } = this.operations;
    if (!bulk.includes(input.operationId))
      throw invalidRequest([{ field: 'operationId', message: `must be one of ${bulk.sort().join(', ')}` }]);
    const operation = this.operations.of(input.operationId)!;
    requireScopes(key, operation);
    const refused = Object.entries(operation.notInBulk ?? {});
    for (const [name, value] of refused)
      if (input.arguments?.[name] === value)
        throw invalidRequest([
          { field: `arguments.${name}`, message: `must not be ${String(value)}: a crash could repeat it` },
        ]);
    const ids = [...new Set(input.ids.map((id) => id.toLowerCase()))];
    const { id } = await this.keys.once(async (tx) => ({
      id: await this.store.create(tx, { ...input, ids }, key),
    }));
    this.runner.wakeUp.signal();
    void reply.header('location', `/api/v1/bulk-actions/${id}`);
    return found(await this.store.find(id), `bulk action ${id}`);
  }

  @Get(':id')
  @Operation([], {
    anyScope: SCOPES,
    summary: 'Read a bulk action, with the result for each id',
    description:
      'Needs the scopes of its operation. Actions are deleted `RETENTION_DELIVERIES_DAYS` after their end.',
  })
  @ApiOkResponse({ type: BulkActionView })
  async readBulkAction(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal) {
    const action = found(await this.store.find(id), `bulk action ${id}`);
    requireScopes(key, this.operations.of(action.operationId)!);
    return action;
  }
}
