import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Operation } from '../../access/operation.decorator.js';
import { CursorOf, LimitQuery, toPage, type Page } from '../../platform/http/page.js';
import { ChoiceParameter, UuidParameter } from '../../platform/http/parameters.js';
import { ApiPage } from '../../platform/openapi/api-page.decorator.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import { StuckStore } from './stuck.store.js';
import { KINDS, StuckGroupsView, StuckView, type Kind } from './stuck.view.js';

class StuckQuery extends LimitQuery {
  @ChoiceParameter(KINDS, 'Only this kind')
  kind?: Kind;

  @UuidParameter('Only the session, registration, start or inverter with this id')
  id?: string;

  @CursorOf({ at: 'instant', id: 'uuid' })
  cursor?: { readonly at: Date; readonly id: string };
}

@ApiTags('Operation')
@Controller('stuck')
export class StuckController {
  constructor(private readonly store: StuckStore) {}

  @Get()
  @Operation('onboarding:read', {
    summary: 'List what does not continue by itself, or has not for too long, the oldest first',
    description:
      'The same as `admin.stuck`. Without `id`, it reads every open session, so do not request it more often than once a minute.',
  })
  @ApiPage(StuckView)
  @ApiProblems('invalid_request')
  async listStuck(@Query() { limit, kind, id, cursor }: StuckQuery): Promise<Page<StuckView>> {
    const rows = await this.store.list({ kind, id, after: cursor, limit: limit + 1 });
    return toPage(rows, limit, ({ since, id }) => [since, id]);
  }

  @Get('groups')
  @Operation('onboarding:read', {
    summary: 'Count what is stuck by its kind and reason, with the oldest of each',
    description:
      'The groups with the most new items come first, of these the largest. It costs as much as one page of `GET /stuck`.',
  })
  @ApiOkResponse({ type: StuckGroupsView })
  async groupStuck(): Promise<StuckGroupsView> {
    return { items: await this.store.group() };
  }
}
