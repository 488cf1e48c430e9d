import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operation } from '../../access/operation.decorator.js';
import { toPage, type Page } from '../../platform/http/page.js';
import { ApiPage } from '../../platform/openapi/api-page.decorator.js';
import { StartsStore } from '../start/starts.store.js';
import { StartsQuery, StartView } from './starts.view.js';

@ApiTags('Onboarding')
@Controller('onboarding/starts')
export class StartsController {
  constructor(private readonly starts: StartsStore) {}

  @Get()
  @Operation('onboarding:read', {
    summary: 'List starts, the newest first',
    description:
      'Includes those that failed and so led to no session. A request that returns a session that is open or online makes no start.',
  })
  @ApiPage(StartView)
  async listStarts(@Query() { limit, cursor, ...filter }: StartsQuery): Promise<Page<StartView>> {
    const starts = await this.starts.listStarts(filter, cursor, limit + 1);
    return toPage(starts, limit, ({ createdAt, id }) => [createdAt, id]);
  }
}
