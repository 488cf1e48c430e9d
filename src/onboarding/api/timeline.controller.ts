import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operation } from '../../access/operation.decorator.js';
import { toPage, type Page } from '../../platform/http/page.js';
import { ParseUuid } from '../../platform/http/uuid.pipe.js';
import { ApiPage } from '../../platform/openapi/api-page.decorator.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import { found } from '../../platform/problem/found.js';
import { SessionViewsStore } from '../store/session-views.store.js';
import { TimelineStore } from '../store/timeline.store.js';
import { TimelineEntryView, TimelineQuery } from './timeline.view.js';

@ApiTags('Onboarding')
@Controller('onboarding/pv')
export class TimelineController {
  constructor(
    private readonly sessions: SessionViewsStore,
    private readonly timelines: TimelineStore,
  ) {}

  @Get(':sessionId/timeline')
  @Operation('onboarding:read', {
    summary: 'List everything that happened to a session, the oldest first',
    description:
      'The starts that led to it, the responses of the remote service, the transitions that followed by which rule, and the events about it.',
  })
  @ApiPage(TimelineEntryView)
  @ApiProblems('invalid_request', 'not_found')
  async listTimeline(
    @Param('sessionId', ParseUuid) sessionId: string,
    @Query() { limit, cursor }: TimelineQuery,
  ): Promise<Page<TimelineEntryView>> {
    found(await this.sessions.findSession(sessionId), `session ${sessionId}`);
    const rows = await this.timelines.list(sessionId, cursor, limit + 1);
    return toPage(
      rows,
      limit,
      ({ at, step, number }) => [at, step, number],
      ({ step: _, number: _number, ...entry }) => entry,
    );
  }
}
