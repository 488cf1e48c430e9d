import { Body, Controller, HttpCode, Logger, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentKey, Operation } from '../access/operation.decorator.js';
import { actorOf, type Principal } from '../access/scopes.js';
import { counted } from '../platform/counted.rules.js';
import { invalidRequest } from '../platform/http/validation.js';
import { isDiscardedBefore, problemOf } from './decisions.service.js';
import { DecisionsStore } from './decisions.store.js';
import { RegistrationsStore } from '../users/registration/registrations.store.js';
import { BulkDecision, DecisionResultView, DecisionsView, MAX_DECISIONS } from './many-decisions.dto.js';

@ApiTags('Users')
@Controller('registrations/decisions')
export class ManyDecisionsController {
  private readonly logger = new Logger('RegistrationDecisions');

  constructor(
    private readonly decisions: DecisionsStore,
    private readonly registrations: RegistrationsStore,
  ) {}

  @Post()
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
    if (ids !== undefined) return { items: await this.decideEach(new Set(ids), actor, decision), next: null };
    const page = await this.registrations.listRegistrations({ ...filter, cursor, limit: MAX_DECISIONS });
    const matching = page.items.map(({ id }) => id);
    return { items: await this.decideEach(matching, actor, decision), next: page.next };
  }

  /** Applies one decision to each of these registrations, each in a transaction of its own. */
  private async decideEach(
    ids: Iterable<string>,
    actor: string,
    { decision, unchangedSince }: Pick<BulkDecision, 'decision' | 'unchangedSince'>,
  ): Promise<DecisionResultView[]> {
    const results: DecisionResultView[] = [];
    for (const id of ids) {
      const decided = await this.decisions.decide({ id, actor, decision, unchangedSince });
      if (decided.status === 'decided' || isDiscardedBefore(decided, decision)) {
        results.push(DecisionResultView.of({ id, ok: true, code: null, detail: null }));
      } else {
        const { code, detail } = problemOf(decided, decision, id);
        results.push(DecisionResultView.of({ id, ok: false, code, detail }));
      }
    }
    const count = results.filter(({ ok }) => ok).length;
    this.logger.log(
      `${actor} decided to ${decision} ${count} of ${counted(results.length, 'registration', 'registrations')}`,
    );
    return results;
  }
}
