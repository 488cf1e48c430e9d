import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Operation } from '../../access/operation.decorator.js';
import { ApiPage, mapPage } from '../../platform/http/page.js';
import { ParseUuid } from '../../platform/http/parameters.js';
import { Query } from '../../platform/http/query.decorator.js';
import { found } from '../../platform/problem/problem.js';
import { StallViews } from '../../stalls/stall-views.service.js';
import { RegistrationView, toRegistrationView } from './registration.view.js';
import { RegistrationsQuery } from './registrations.list.js';
import { RegistrationsStore } from './registrations.store.js';

@ApiTags('Users')
@Controller('registrations')
export class RegistrationsController {
  constructor(
    private readonly store: RegistrationsStore,
    private readonly stalls: StallViews,
  ) {}

  @Get()
  @Operation('users:read', {
    columns: {
      ID: 'id',
      STATUS: 'status',
      AGE: 'createdAt',
      CALLS: 'attempts',
      REFERENCE: 'tenantReference',
    },
    summary: 'List registrations, the newest first',
    description: 'Includes those that are done: `registered`, `rejected` and `discarded`.',
  })
  @ApiPage(RegistrationView)
  async listRegistrations(@Query() query: RegistrationsQuery) {
    return mapPage(await this.store.listRegistrations(query), (row) => toRegistrationView(row, this.stalls));
  }

  @Get(':id')
  @Operation('users:read', {
    summary: 'Read a registration',
    description: 'Poll it after a 202, or wait for the event `user.registered`.',
  })
  @ApiOkResponse({ type: RegistrationView })
  async readRegistration(@Param('id', ParseUuid) id: string): Promise<RegistrationView> {
    return toRegistrationView(
      found(await this.store.findRegistration(id), `registration ${id}`),
      this.stalls,
    );
  }
}
