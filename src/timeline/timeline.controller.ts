import { Controller, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operation } from '../access/operation.decorator.js';
import { SessionViewsStore } from '../onboarding/store/session-views.store.js';
import { Database } from '../platform/database/database.js';
import { ApiPage, mapPage, type Page } from '../platform/http/page.js';
import { ParseUuid } from '../platform/http/parameters.js';
import { Query } from '../platform/http/query.decorator.js';
import { found } from '../platform/problem/problem.js';
import { TIMELINE, TimelineEntryView, TimelineQuery } from './timeline.list.js';

@ApiTags('Onboarding')
@Controller('onboarding/pv/:sessionId/timeline')
export class TimelineController {
  constructor(
    private readonly sessions: SessionViewsStore,
    private readonly database: Database,
  ) {}

  @Get()
  @Operation('onboarding:read', {
    command: 'sessions timeline',
    summary: 'List everything that happened to a session, the oldest first',
    description:
      'The starts that led to it, the responses of the remote service, the transitions that followed by which rule, and the events about it.',
  })
  @ApiPage(TimelineEntryView)
  async listTimeline(
    @Param('sessionId', ParseUuid) sessionId: string,
    @Query() query: TimelineQuery,
  ): Promise<Page<TimelineEntryView>> {
    found(await this.sessions.findSession(sessionId), `session ${sessionId}`);
    type Entry = Omit<TimelineEntryView, 'object'> & Record<'step' | 'number', unknown>;
    const page = await TIMELINE.page<Entry>(this.database, query, ['session_id = ?', sessionId]);
    return mapPage(page, ({ step, number, details, ...entry }) =>
      TimelineEntryView.of({ ...entry, details: inCamelCase(details) }),
    );
  }
}

const inCamelCase = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      value as unknown,
    ]),
  );
