import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentKey, Operation } from '../access/operation.decorator.js';
import { hasScope, type Principal } from '../access/scopes.js';
import { ApiPage, type Page } from '../platform/http/page.js';
import { Query } from '../platform/http/query.decorator.js';
import { Problem } from '../platform/problem/problem.js';
import { SCOPE_OF_KIND, STALL_KINDS, type StallKind } from './cause.rules.js';
import { StallKinds } from './stall-kinds.js';
import { StallListsStore, type ListedStall } from './stall-lists.store.js';
import { StallViews } from './stall-views.service.js';
import { StalledQuery } from './stalled.list.js';
import { StalledGroupsView, StalledItemView } from './stalled.view.js';

const SCOPES = [...new Set(Object.values(SCOPE_OF_KIND))];
const kindsOf = (scope: string) => STALL_KINDS.filter((kind) => SCOPE_OF_KIND[kind] === scope).join(', ');
const BY_SCOPE = `Only of the kinds that the key may read: ${SCOPES.map((scope) => `with \`${scope}\` ${kindsOf(scope)}`).join('; ')}.`;

@ApiTags('Operation')
@Controller('stalled')
export class StalledController {
  constructor(
    private readonly lists: StallListsStore,
    private readonly kinds: StallKinds,
    private readonly views: StallViews,
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
    const page = await this.lists.list(query, this.readable(key));
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
    const groups = await this.lists.group(this.readable(key));
    const items = groups.flatMap(({ kind, cause: code, count, new: fresh, items: rows }) => {
      const cause = this.kinds.causeOf(kind, code);
      if (cause === undefined) return [];
      const { waitsFor, urgency, title } = cause;
      const oldest = rows.flatMap((row) => this.item(row) ?? []);
      return { kind, cause: code, waitsFor, urgency, title, count, new: fresh, oldest };
    });
    return { items };
  }

  private readable(key: Principal): StallKind[] {
    const readable = this.kinds.all
      .map(({ kind }) => kind)
      .filter((kind) => hasScope(key, SCOPE_OF_KIND[kind]));
    if (readable.length === 0)
      throw new Problem('forbidden', `This needs a key with one of the scopes ${SCOPES.join(', ')}`);
    return readable;
  }

  private item(row: ListedStall): StalledItemView | null {
    const stalled = this.views.view(row.kind, row, row);
    return stalled && { ...row, ...stalled };
  }
}
