import { Body, Controller, Get, HttpStatus, Param, Post, Query, Res } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { RequireScope } from '../../access/require-scope.decorator.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import { decodeCursor, toPage } from '../../platform/http/page.js';
import { ParseUuid } from '../../platform/http/uuid.pipe.js';
import { LOCATION, RETRY_AFTER } from '../../platform/openapi/response-headers.js';
import { ListUsersQuery } from '../list-queries.dto.js';
import { RegisterUserInput } from '../registration/register-user.dto.js';
import { RegistrationView, toRegistrationView } from '../registration/registration.view.js';
import { RegistrationsService } from '../registration/registrations.service.js';
import { toUserView, UserPage, UserView } from './user.view.js';
import { UsersStore } from './users.store.js';

@ApiTags('Users')
@Controller('users')
export class UsersController {
  constructor(
    private readonly registrations: RegistrationsService,
    private readonly users: UsersStore,
  ) {}

  @Post()
  @RequireScope('users:write')
  @ApiOperation({
    operationId: 'registerUser',
    summary: 'Register a user with the Solar Curtailment Service',
    description:
      'May be repeated: a tenantReference is registered once. Returns 202 while the registration is undecided: it is sent ' +
      'later, or its response was lost and a person decides (see /registrations).',
  })
  @ApiCreatedResponse({ type: UserView, description: 'Registered by this request', headers: LOCATION })
  @ApiOkResponse({ type: UserView, description: 'Already registered, with the same EANs', headers: LOCATION })
  @ApiAcceptedResponse({
    type: RegistrationView,
    description: 'Undecided; Location is the registration',
    headers: { ...LOCATION, ...RETRY_AFTER },
  })
  @ApiProblems(
    'invalid_request',
    'invalid_json',
    'tenant_reference_conflict',
    'registration_conflict',
    'remote_rejected',
  )
  async register(
    @Body() { tenantReference, gridLocations, metadata = {} }: RegisterUserInput,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UserView | RegistrationView> {
    const registered = await this.registrations.register(tenantReference, gridLocations, metadata);
    switch (registered.kind) {
      case 'created':
      case 'existing':
        reply.status(registered.kind === 'created' ? HttpStatus.CREATED : HttpStatus.OK);
        reply.header('location', `/api/v1/users/${registered.user.id}`);
        return toUserView(registered.user);
      case 'open': {
        const { id, nextAttemptAt } = registered.registration;
        reply.status(HttpStatus.ACCEPTED).header('location', `/api/v1/registrations/${id}`);
        if (nextAttemptAt !== null) reply.header('retry-after', secondsUntil(nextAttemptAt, new Date()));
        return toRegistrationView(registered.registration);
      }
    }
  }

  @Get()
  @RequireScope('users:read')
  @ApiOperation({ operationId: 'listUsers', summary: 'List users, the newest first' })
  @ApiOkResponse({ type: UserPage })
  @ApiProblems('invalid_request')
  async list(@Query() { limit, cursor, ...filter }: ListUsersQuery): Promise<UserPage> {
    const after = decodeCursor(cursor, ['instant', 'uuid']);
    const position = after && { at: new Date(after[0]), id: after[1] };
    const users = await this.users.listUsers(filter, position, limit + 1);
    const { items, next } = toPage(users, limit, ({ registeredAt, id }) => [registeredAt, id]);
    return { items: items.map(toUserView), next };
  }

  @Get(':userId')
  @RequireScope('users:read')
  @ApiOperation({ operationId: 'readUser', summary: 'Read a user' })
  @ApiOkResponse({ type: UserView })
  @ApiProblems('invalid_request', 'not_found')
  async read(@Param('userId', ParseUuid) userId: string): Promise<UserView> {
    return toUserView(await this.users.getUser(userId));
  }
}

/** Returns at least one second: a Retry-After of 0 invites a loop. */
const secondsUntil = (at: Date, now: Date): string =>
  String(Math.max(1, Math.ceil((at.getTime() - now.getTime()) / 1_000)));
