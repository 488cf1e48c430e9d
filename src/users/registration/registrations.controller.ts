import { Body, Controller, Get, HttpCode, HttpStatus, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentKey } from '../../access/current-key.decorator.js';
import { RequireScope } from '../../access/require-scope.decorator.js';
import { actorOf, type Principal } from '../../access/scopes.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import { decodeCursor, toPage } from '../../platform/http/page.js';
import { ParseUuid } from '../../platform/http/uuid.pipe.js';
import { ConfirmedUserInput } from './confirmed-user.dto.js';
import { ListRegistrationsQuery } from '../list-queries.dto.js';
import { RegistrationPage, RegistrationView, toRegistrationView } from './registration.view.js';
import { RegistrationsService } from './registrations.service.js';
import { RegistrationsStore } from './registrations.store.js';

@ApiTags('Users')
@Controller('registrations')
export class RegistrationsController {
  constructor(
    private readonly service: RegistrationsService,
    private readonly store: RegistrationsStore,
  ) {}

  @Get()
  @RequireScope('users:read')
  @ApiOperation({ operationId: 'listRegistrations', summary: 'List registrations, the newest first' })
  @ApiOkResponse({ type: RegistrationPage })
  @ApiProblems('invalid_request')
  async list(@Query() { limit, cursor, ...filter }: ListRegistrationsQuery): Promise<RegistrationPage> {
    const after = decodeCursor(cursor, ['instant', 'uuid']);
    const position = after && { at: new Date(after[0]), id: after[1] };
    const registrations = await this.store.listRegistrations(filter, position, limit + 1);
    const { items, next } = toPage(registrations, limit, ({ createdAt, id }) => [createdAt, id]);
    return { items: items.map(toRegistrationView), next };
  }

  @Get(':id')
  @RequireScope('users:read')
  @ApiOperation({ operationId: 'readRegistration', summary: 'Read a registration' })
  @ApiOkResponse({ type: RegistrationView })
  @ApiProblems('invalid_request', 'not_found')
  async read(@Param('id', ParseUuid) id: string): Promise<RegistrationView> {
    return toRegistrationView(await this.service.getRegistration(id));
  }

  @Post(':id/retry')
  @HttpCode(HttpStatus.OK)
  @RequireScope('users:write')
  @ApiOperation({
    operationId: 'retryRegistration',
    summary: 'Send a registration again',
    description:
      'For pending, uncertain and rejected registrations. If an uncertain one was registered after all, this may register it twice.',
  })
  @ApiOkResponse({ type: RegistrationView })
  @ApiProblems('invalid_request', 'not_found', 'registration_conflict')
  async retry(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal): Promise<RegistrationView> {
    return toRegistrationView(await this.service.retry(id, actorOf(key)));
  }

  @Post(':id/discard')
  @HttpCode(HttpStatus.OK)
  @RequireScope('users:write')
  @ApiOperation({
    operationId: 'discardRegistration',
    summary: 'Discard a registration',
    description:
      'For pending, uncertain and rejected registrations. The tenantReference may then be registered anew.',
  })
  @ApiOkResponse({ type: RegistrationView })
  @ApiProblems('invalid_request', 'not_found', 'registration_conflict')
  async discard(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal): Promise<RegistrationView> {
    return toRegistrationView(await this.service.discard(id, actorOf(key)));
  }

  @Post(':id/resolve')
  @HttpCode(HttpStatus.OK)
  @RequireScope('users:write')
  @ApiOperation({
    operationId: 'resolveRegistration',
    summary: 'Enter the user that the provider confirmed',
    description:
      'For registrations in any status but registered. The body is the user object of the remote service.',
  })
  @ApiBody({ type: ConfirmedUserInput })
  @ApiOkResponse({ type: RegistrationView })
  @ApiProblems('invalid_request', 'invalid_json', 'not_found', 'registration_conflict')
  async resolve(
    @Param('id', ParseUuid) id: string,
    @Body() confirmed: object,
    @CurrentKey() key: Principal,
  ): Promise<RegistrationView> {
    return toRegistrationView(await this.service.resolve(id, actorOf(key), confirmed));
  }
}
