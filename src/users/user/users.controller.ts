import { Body, Controller, Get, HttpStatus, Param, Post, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { currentExecution } from '../../access/execution.js';
import { Operation } from '../../access/operation.decorator.js';
import { Database } from '../../platform/database/database.js';
import { ApiPage, mapPage, type Page } from '../../platform/http/page.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import { ParseUuid } from '../../platform/http/parameters.js';
import { LOCATION, RETRY_AFTER } from '../../platform/openapi/response-headers.js';
import { found } from '../../platform/problem/problem.js';
import { StallViews } from '../../stalls/stall-views.service.js';
import { OpenRegistrationView, toRegistrationView } from '../registration/registration.view.js';
import { RegistrationsService } from '../registration/registrations.service.js';
import { RegisterUserInput } from '../users.dto.js';
import { RegisteredUserView, UserView } from './user.view.js';
import { UsersQuery } from './users.list.js';
import { UsersStore } from './users.store.js';
import { Query } from '../../platform/http/query.decorator.js';

const REGISTERED = { type: RegisteredUserView, headers: LOCATION };

@ApiTags('Users')
@Controller('users')
export class UsersController {
  constructor(
    private readonly registrations: RegistrationsService,
    private readonly users: UsersStore,
    private readonly database: Database,
    private readonly stalls: StallViews,
  ) {}

  @Post()
  @Operation('users:write', {
    summary: 'Register a user with the Solar Curtailment Service',
    description:
      'May be repeated: a tenantReference is registered once. Returns 202 while the registration is undecided: it is sent ' +
      'later, or its response was lost and a person decides (see /registrations).',
  })
  @ApiCreatedResponse({ ...REGISTERED, description: 'Registered by this request' })
  @ApiOkResponse({ ...REGISTERED, description: 'Already registered, with the same EANs' })
  @ApiResponse({
    status: HttpStatus.ACCEPTED,
    type: OpenRegistrationView,
    description: 'The registration, which is undecided. `Location` is its path',
    headers: { ...LOCATION, ...RETRY_AFTER },
  })
  @ApiProblems('ean_rounded', 'tenant_reference_conflict', 'registration_conflict', 'remote_rejected')
  async registerUser(
    @Body() input: RegisterUserInput,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RegisteredUserView | OpenRegistrationView> {
    const registered = await this.registrations.register(input);
    const { warnings } = registered;
    switch (registered.kind) {
      case 'created':
      case 'existing':
        reply.status(registered.kind === 'created' ? HttpStatus.CREATED : HttpStatus.OK);
        reply.header('location', `/api/v1/users/${registered.user.id}`);
        return RegisteredUserView.of({ ...registered.user, warnings });
      case 'open': {
        const { id, nextAttemptAt } = registered.registration;
        // This response is not the last: a repetition with its Idempotency-Key asks again what has become of the registration.
        await currentExecution()
          ?.remember({ id })
          .catch(() => undefined);
        reply.status(HttpStatus.ACCEPTED).header('location', `/api/v1/registrations/${id}`);
        if (nextAttemptAt === null)
          return { ...toRegistrationView(registered.registration, this.stalls), warnings };
        // The registration is known, even if the database cannot be reached any more.
        const now = await this.database.now().catch(() => new Date());
        reply.header('retry-after', secondsUntil(nextAttemptAt, now));
        return { ...toRegistrationView(registered.registration, this.stalls), warnings };
      }
    }
  }

  @Get()
  @Operation('users:read', {
    columns: { ID: 'id', AGE: 'registeredAt', EAN: 'gridLocations.ean', REFERENCE: 'tenantReference' },
    summary: 'List users, the newest first',
    description: 'Only users registered by this service. Erased users are not listed.',
  })
  @ApiPage(UserView)
  async listUsers(@Query() query: UsersQuery): Promise<Page<UserView>> {
    return mapPage(await this.users.listUsers(query), UserView.of);
  }

  @Get(':userId')
  @Operation('users:read', {
    summary: 'Read a user',
    description:
      'Returns our copy; the remote service has no call that reads a user. An erased user is `not_found`.',
  })
  @ApiOkResponse({ type: UserView })
  async readUser(@Param('userId', ParseUuid) userId: string): Promise<UserView> {
    return UserView.of(found(await this.users.findUser(userId), `user ${userId}`));
  }
}

/** Returns the seconds until `at`, but at least 1, since with a Retry-After of 0 a client might retry in a loop. */
const secondsUntil = (at: Date, now: Date): string =>
  String(Math.max(1, Math.ceil((at.getTime() - now.getTime()) / 1_000)));
