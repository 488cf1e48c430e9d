import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../../access/require-scope.decorator.js';
import { ApiPage } from '../../platform/openapi/api-page.decorator.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import { decodeCursor, toPage } from '../../platform/http/page.js';
import type { Page } from '../../platform/http/page.js';
import { ParseUuid } from '../../platform/http/uuid.pipe.js';
import { InvertersQuery, InverterView } from './inverters.dto.js';
import { InvertersStore } from '../store/inverters.store.js';

@ApiTags('Onboarding')
@Controller('inverters')
export class InvertersController {
  constructor(private readonly inverters: InvertersStore) {}

  @Get()
  @RequireScope('onboarding:read')
  @ApiOperation({
    operationId: 'listInverters',
    summary: 'List inverters, the newest first',
    description:
      'Returns one item per inverter and user. If several sessions of one user (with `gridLocationId`: of one grid location) have the same inverter, a session that still lists it is preferred, then the latest `firstSeenAt`. An inverter of several users is returned once for each of them.',
  })
  @ApiPage(InverterView)
  async list(@Query() { limit, cursor, ...filter }: InvertersQuery): Promise<Page<InverterView>> {
    const position = decodeCursor(cursor, ['instant', 'uuid', 'uuid']);
    const after = position && {
      firstSeenAt: new Date(position[0]),
      id: position[1],
      sessionId: position[2],
    };
    const rows = await this.inverters.listInverters(filter, after, limit + 1);
    return toPage(rows, limit, ({ firstSeenAt, id, sessionId }) => [firstSeenAt, id, sessionId]);
  }

  @Get(':id')
  @RequireScope('onboarding:read')
  @ApiOperation({
    operationId: 'readInverter',
    summary: 'Read an inverter',
    description:
      'If several sessions of any users have the inverter, a session that still lists it is preferred, then the latest `firstSeenAt`. To read the inverter of one user, list with `userId`.',
  })
  @ApiOkResponse({ type: InverterView })
  @ApiProblems('invalid_request', 'not_found')
  read(@Param('id', ParseUuid) id: string): Promise<InverterView> {
    return this.inverters.getInverter(id);
  }
}
