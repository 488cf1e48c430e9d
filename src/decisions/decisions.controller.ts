import { applyDecorators, Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentKey, type Documentation, Operation } from '../access/operation.decorator.js';
import { actorOf, type Principal } from '../access/scopes.js';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import { ParseUuid } from '../platform/http/parameters.js';
import { invalidRequest } from '../platform/http/validation.js';
import type { ProblemCode } from '../platform/problem/problem.js';
import { StallViews } from '../stalls/stall-views.service.js';
import { RegistrationView, toRegistrationView } from '../users/registration/registration.view.js';
import { RegistrationsStore } from '../users/registration/registrations.store.js';
import type { PersonDecision } from './decision.rules.js';
import {
  BulkDecision,
  ConfirmedUserInput,
  DecisionCondition,
  DecisionsView,
  MAX_DECISIONS,
} from './decisions.dto.js';
import { DecisionsService } from './decisions.service.js';

@ApiTags('Users')
@Controller('registrations')
export class DecisionsController {
  constructor(
    private readonly decisions: DecisionsService,
    private readonly registrations: RegistrationsStore,
    private readonly stalls: StallViews,
  ) {}

  @Decides('retry', {
    bulk: true,
    summary: 'Send a registration again',
    description:
      'For pending, uncertain and rejected registrations. If an uncertain one was registered after all, this may register it twice.',
    confirm:
      'this sends the registration {id} again. If an earlier call took effect, a second user is created at the provider. This cannot be undone.',
  })
  @ApiBody({ type: DecisionCondition, required: false })
  async retryRegistration(
    @Param('id', ParseUuid) id: string,
    @Body() condition: DecisionCondition,
    @CurrentKey() key: Principal,
  ) {
    const decided = await this.decisions.decide(id, actorOf(key), 'retry', condition);
    return toRegistrationView(decided, this.stalls);
  }

  @Decides('discard', {
    bulk: true,
    summary: 'Discard a registration',
    description:
      'For pending, uncertain and rejected registrations. The tenantReference may then be registered again.',
    confirm:
      'this gives up the {status} registration {id} of {tenantReference}: it is never sent again. If its user exists after all, `registrations resolve` can still enter it.',
  })
  @ApiBody({ type: DecisionCondition, required: false })
  async discardRegistration(
    @Param('id', ParseUuid) id: string,
    @Body() condition: DecisionCondition,
    @CurrentKey() key: Principal,
  ) {
    const decided = await this.decisions.decide(id, actorOf(key), 'discard', condition);
    return toRegistrationView(decided, this.stalls);
  }

  @Decides(
    'resolve',
    {
      summary: 'Enter the user that the provider confirmed',
      description:
        'For registrations in any status but registered. The body is the user object of the remote service.',
      confirm: 'this enters a user for the registration {id}, and its grid locations. This cannot be undone.',
    },
    'ean_rounded',
  )
  @ApiBody({ type: ConfirmedUserInput })
  async resolveRegistration(
    @Param('id', ParseUuid) id: string,
    @Body() confirmed: object,
    @CurrentKey() key: Principal,
  ): Promise<RegistrationView> {
    return toRegistrationView(
      await this.decisions.decide(id, actorOf(key), 'resolve', { confirmed }),
      this.stalls,
    );
  }

  @Post('decisions')
  @HttpCode(200)
  @Operation('registrations:decide', {
    command: 'registrations decide',
    summary: 'Retry or discard many registrations',
    description:
      `Each of them as \`POST /registrations/{id}/retry\` or \`…/discard\` would, at most ${MAX_DECISIONS} per call; give \`ids\` or \`filter\`. ` +
      'A retry of an uncertain registration may register its user twice: first ask the provider. Read the result for each registration.',
  })
  @ApiOkResponse({ type: DecisionsView })
  async decideRegistrations(
    @Body() { ids, filter, cursor, ...decision }: BulkDecision,
    @CurrentKey() key: Principal,
  ): Promise<DecisionsView> {
    if ((ids === undefined) === (filter === undefined))
      throw invalidRequest([{ field: 'ids', message: 'must be given if `filter` is not, and only then' }]);
    if (ids !== undefined && cursor !== undefined)
      throw invalidRequest([{ field: 'cursor', message: 'must not be given with `ids`' }]);
    const actor = actorOf(key);
    if (ids !== undefined)
      return { items: await this.decisions.decideEach(new Set(ids), actor, decision), next: null };
    const page = await this.registrations.listRegistrations({ ...filter, cursor, limit: MAX_DECISIONS });
    const matching = page.items.map(({ id }) => id);
    return { items: await this.decisions.decideEach(matching, actor, decision), next: page.next };
  }
}

function Decides(
  decision: PersonDecision,
  documentation: Documentation,
  ...problems: readonly ProblemCode[]
): MethodDecorator {
  return applyDecorators(
    Post(`:id/${decision}`),
    HttpCode(200),
    Operation('registrations:decide', documentation),
    ApiOkResponse({ type: RegistrationView }),
    ApiProblems(...problems, 'registration_conflict'),
  );
}
