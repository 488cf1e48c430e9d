import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Operation } from '../access/operation.decorator.js';
import { ApiPage, mapPage, type Page } from '../platform/http/page.js';
import { ParseUuid } from '../platform/http/parameters.js';
import { Query } from '../platform/http/query.decorator.js';
import { found } from '../platform/problem/problem.js';
import { InvertersQuery, InverterView } from './inverters.list.js';
import { InvertersStore } from './inverters.store.js';

@ApiTags('Onboarding')
@Controller('inverters')
export class InvertersController {
  constructor(private readonly inverters: InvertersStore) {}

  @Get()
  @Operation('onboarding:read', {
    columns: {
      ID: 'id',
      SESSION: 'sessionId',
      SEEN: 'lastSeenAt',
      MISSING: 'missingSince',
      BRAND: 'brand:8',
    },
    summary: 'List inverters, the newest first',
    description:
      'Returns one item per inverter and user. If several sessions of one user (with `gridLocationId`: of one grid location) have the same inverter, a session that still lists it is preferred, then the latest `firstSeenAt`. An inverter of several users is returned once for each of them.',
  })
  @ApiPage(InverterView)
  async listInverters(@Query() query: InvertersQuery): Promise<Page<InverterView>> {
    return mapPage(await this.inverters.list(query), InverterView.of);
  }

  @Get(':id')
  @Operation('onboarding:read', {
    summary: 'Read an inverter',
    description:
      'If several sessions of any users have the inverter, a session that still lists it is preferred, then the latest `firstSeenAt`. To read the inverter of one user, list with `userId`.',
  })
  @ApiOkResponse({ type: InverterView })
  async readInverter(@Param('id', ParseUuid) id: string): Promise<InverterView> {
    return InverterView.of(found(await this.inverters.find(id), `inverter ${id}`));
  }
}
