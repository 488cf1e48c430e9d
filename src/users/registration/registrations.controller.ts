import { applyDecorators, Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentKey } from '../../access/current-key.decorator.js';
import { Operation } from '../../access/operation.decorator.js';
import { actorOf, type Principal } from '../../access/scopes.js';
import { ApiPage } from '../../platform/openapi/api-page.decorator.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import { toPage, type Page } from '../../platform/http/page.js';
import { ParseUuid } from '../../platform/http/uuid.pipe.js';
import { found } from '../../platform/problem/found.js';
import type { ProblemCode } from '../../platform/problem/problem.js';
import { ConfirmedUserInput, ListRegistrationsQuery } from '../users.dto.js';
import type { PersonDecision } from './registration.rules.js';
import { RegistrationView, toRegistrationView } from './registration.view.js';
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
  @Operation('users:read', {
    summary: 'List registrations, the newest first',
    description: 'Includes those that are done: `registered`, `rejected` and `discarded`.',
  })
  @ApiPage(RegistrationView)
  async listRegistrations(
    @Query() { limit, cursor, ...filter }: ListRegistrationsQuery,
  ): Promise<Page<RegistrationView>> {
    const registrations = await this.store.listRegistrations(filter, cursor, limit + 1);
    return toPage(registrations, limit, ({ createdAt, id }) => [createdAt, id], toRegistrationView);
  }

  @Get(':id')
  @Operation('users:read', {
    summary: 'Read a registration',
    description: 'Poll it after a 202, or wait for the event `user.registered`.',
  })
  @ApiOkResponse({ type: RegistrationView })
  @ApiProblems('invalid_request', 'not_found')
  async readRegistration(@Param('id', ParseUuid) id: string): Promise<RegistrationView> {
    return toRegistrationView(found(await this.store.findRegistration(id), `registration ${id}`));
  }

  @Decides(
    'retry',
    'Send a registration again',
    'For pending, uncertain and rejected registrations. If an uncertain one was registered after all, this may register it twice.',
  )
  async retryRegistration(
    @Param('id', ParseUuid) id: string,
    @CurrentKey() key: Principal,
  ): Promise<RegistrationView> {
    return toRegistrationView(await this.service.decide(id, actorOf(key), 'retry'));
  }

  @Decides(
    'discard',
    'Discard a registration',
    'For pending, uncertain and rejected registrations. The tenantReference may then be registered again.',
  )
  async discardRegistration(
    @Param('id', ParseUuid) id: string,
    @CurrentKey() key: Principal,
  ): Promise<RegistrationView> {
    return toRegistrationView(await this.service.decide(id, actorOf(key), 'discard'));
  }

  @Decides(
    'resolve',
    'Enter the user that the provider confirmed',
    'For registrations in any status but registered. The body is the user object of the remote service.',
    'invalid_json',
    'ean_rounded',
  )
  @ApiBody({ type: ConfirmedUserInput })
  async resolveRegistration(
    @Param('id', ParseUuid) id: string,
    @Body() confirmed: object,
    @CurrentKey() key: Principal,
  ): Promise<RegistrationView> {
    return toRegistrationView(await this.service.decide(id, actorOf(key), 'resolve', confirmed));
  }
}

function Decides(
  decision: PersonDecision,
  summary: string,
  description: string,
  ...problems: readonly ProblemCode[]
): MethodDecorator {
  return applyDecorators(
    Post(`:id/${decision}`),
    HttpCode(200),
    Operation('registrations:decide', { summary, description }),
    ApiOkResponse({ type: RegistrationView }),
    ApiProblems('invalid_request', ...problems, 'not_found', 'registration_conflict'),
  );
}
