import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Operation } from '../../access/operation.decorator.js';
import { Database } from '../../platform/database/database.js';
import { toPage, type Page } from '../../platform/http/page.js';
import { ApiPage } from '../../platform/openapi/api-page.decorator.js';
import { groupStuck, listStuck } from './stuck.store.js';
import { StuckGroupsView, StuckQuery, StuckView } from './stuck.view.js';

@ApiTags('Operation')
@Controller('stuck')
export class StuckController {
  constructor(private readonly database: Database) {}

  @Get()
  @Operation('onboarding:read', {
    summary: 'List what does not continue by itself, or has not for too long, the oldest first',
    description:
      'The same as `admin.stuck`. Without `id`, it reads every open session, so do not request it more often than once a minute.',
  })
  @ApiPage(StuckView)
  async listStuck(@Query() query: StuckQuery): Promise<Page<StuckView>> {
    const rows = await listStuck(this.database, query);
    return toPage(rows, query.limit, ({ since, id }) => [since, id]);
  }

  @Get('groups')
  @Operation('onboarding:read', {
    summary: 'Count what is stuck by its kind and reason, with the oldest of each',
    description:
      'The groups with the most new items come first, of these the largest. It costs as much as one page of `GET /stuck`.',
  })
  @ApiOkResponse({ type: StuckGroupsView })
  async groupStuck(): Promise<StuckGroupsView> {
    return { items: await groupStuck(this.database) };
  }
}
