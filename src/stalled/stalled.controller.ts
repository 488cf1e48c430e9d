import { Body, Controller, Get, Param, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentKey, Operation } from '../access/operation.decorator.js';
import { actorOf, hasScope, requireAnyScope, type Principal } from '../access/scopes.js';
import { ApiPage, type Page } from '../platform/http/page.js';
import { ParseUuid } from '../platform/http/parameters.js';
import { Query } from '../platform/http/query.decorator.js';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import { found, Problem } from '../platform/problem/problem.js';
import { upcomingFault } from '../platform/time/instant.rules.js';
import { invalidRequest } from '../platform/http/validation.js';
import { Database } from '../platform/database/database.js';
import { STALL_KINDS, type StallKind } from '../stalls/cause.rules.js';
import { StallKinds } from '../stalls/stall-kinds.js';
import { SCOPE_OF_KIND, WRITE_SCOPES_OF_KIND } from './scopes.js';
import { StallViews } from '../stalls/stall-views.service.js';
import { StallChange } from './stalled.dto.js';
import { StalledQuery } from './stalled.list.js';
import { StalledGroupsView, StalledGroupView, StalledItemView } from './stalled-items.view.js';
import { StalledStore, type ListedStall } from './stalled.store.js';

const SCOPES = [...new Set(Object.values(SCOPE_OF_KIND))];
const kindsOf = (scope: string) => STALL_KINDS.filter((kind) => SCOPE_OF_KIND[kind] === scope).join(', ');
const BY_SCOPE = `Only of the kinds that the key may read: ${SCOPES.map((scope) => `with \`${scope}\` ${kindsOf(scope)}`).join('; ')}.`;
const BY_WRITE_SCOPE = STALL_KINDS.map(
  (kind) => `for ${kind} ${WRITE_SCOPES_OF_KIND[kind].map((scope) => `\`${scope}\``).join(' or ')}`,
).join(', ');

@ApiTags('Operation')
@Controller('stalled')
export class StalledController {
  constructor(
    private readonly store: StalledStore,
    private readonly kinds: StallKinds,
    private readonly views: StallViews,
    private readonly database: Database,
  ) {}

  @Get()
  @Operation([], {
    scopeOf: SCOPE_OF_KIND,
    columns: { ID: 'id', KIND: 'kind', CAUSE: 'cause', 'WAITS FOR': 'waitsFor', SINCE: 'since' },
    summary: 'List everything that does not continue by itself, the oldest first',
    description: `${BY_SCOPE} A stall is found at most 2 seconds late.`,
  })
  @ApiPage(StalledItemView)
  async listStalled(
    @Query() query: StalledQuery,
    @CurrentKey() key: Principal,
  ): Promise<Page<StalledItemView>> {
    const page = await this.store.list(query, this.readable(key));
    return { ...page, items: page.items.flatMap((row) => this.item(row) ?? []) };
  }

  @Get('groups')
  @Operation([], {
    scopeOf: SCOPE_OF_KIND,
    columns: {
      KIND: 'kind',
      CAUSE: 'cause',
      COUNT: 'count',
      NEW: 'new',
      'WAITS FOR': 'waitsFor',
      TITLE: 'title:30',
    },
    summary: 'Count what is stalled by kind and cause, with the oldest of each',
    description: `The groups with the most new items come first, of these the largest. ${BY_SCOPE}`,
  })
  @ApiOkResponse({ type: StalledGroupsView })
  async groupStalled(@CurrentKey() key: Principal): Promise<StalledGroupsView> {
    const groups = await this.store.group(this.readable(key));
    const items = groups.flatMap(({ kind, cause: code, count, new: fresh, items: rows }) => {
      const cause = this.kinds.causeOf(kind, code);
      if (cause === undefined) return [];
      const { waitsFor, urgency, title } = cause;
      const oldest = rows.flatMap((row) => this.item(row) ?? []);
      return StalledGroupView.of({ kind, cause: code, waitsFor, urgency, title, count, new: fresh, oldest });
    });
    return { items };
  }

  @Patch(':id')
  @Operation([], {
    anyScope: [...new Set(Object.values(WRITE_SCOPES_OF_KIND).flat())],
    summary: 'Note who works on something that is stalled, or leave it until later',
    description:
      `Changes what is given; null removes it. \`id\` is that of the subject, and the key needs a scope of its kind: ${BY_WRITE_SCOPE}. ` +
      'Note and assignee stay while it is stalled, whatever the cause, and end with the stall. What is snoozed stays listed; it wakes ' +
      'earlier if its cause or its evidence changes.',
  })
  @ApiOkResponse({ type: StalledItemView })
  @ApiProblems('not_found', 'stall_over')
  async workOnStalled(
    @Param('id', ParseUuid) id: string,
    @Body() change: StallChange,
    @CurrentKey() key: Principal,
  ): Promise<StalledItemView> {
    const { kind, snoozedUntil } = change;
    requireAnyScope(key, WRITE_SCOPES_OF_KIND[kind]);
    const fault = snoozedUntil && upcomingFault(snoozedUntil, await this.database.now());
    if (fault) throw invalidRequest([{ field: 'snoozedUntil', message: fault }]);
    const what = `stalled ${kind} ${id}`;
    const changed = found(await this.store.change(id, change, actorOf(key)), what);
    if ('overSince' in changed)
      throw new Problem('stall_over', `It has not been stalled since ${changed.overSince.toISOString()}`);
    return found(this.item(changed), what);
  }

  private readable(key: Principal): StallKind[] {
    return this.kinds.all.map(({ kind }) => kind).filter((kind) => hasScope(key, SCOPE_OF_KIND[kind]));
  }

  private item(row: ListedStall): StalledItemView | null {
    const stalled = this.views.view(row.kind, row, row);
    return stalled && StalledItemView.of({ ...row, ...stalled });
  }
}
