import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operation } from '../access/operation.decorator.js';
import { Database } from '../platform/database/database.js';
import { ApiPage, mapPage, type Page } from '../platform/http/page.js';
import { Query } from '../platform/http/query.decorator.js';
import { StallViews } from '../stalls/stall-views.service.js';
import { StartView } from './start.view.js';
import { STARTS, StartsQuery, type StartRow } from './starts.list.js';

@ApiTags('Onboarding')
@Controller('onboarding/starts')
export class StartsController {
  constructor(
    private readonly database: Database,
    private readonly stalls: StallViews,
  ) {}

  @Get()
  @Operation('onboarding:read', {
    command: 'sessions starts',
    columns: { 'GRID LOCATION': 'gridLocationId', AGE: 'createdAt', STATUS: 'status', ERROR: 'error:40' },
    summary: 'List starts, the newest first',
    description:
      'Includes those that failed and so led to no session. A request that returns a session that is open or online makes no start.',
  })
  @ApiPage(StartView)
  async listStarts(@Query() query: StartsQuery): Promise<Page<StartView>> {
    return mapPage(await STARTS.page<StartRow>(this.database, query), (start) =>
      StartView.of({ ...start, stalled: this.stalls.view('start', start, start.stalled) }),
    );
  }
}
