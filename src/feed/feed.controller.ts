import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Operation } from '../access/operation.decorator.js';
import { Environment } from '../platform/env/environment.js';
import { eventNamesOf, formatSequence, toCloudEvent } from '../events/cloud-event.js';
import { FeedQuery, FeedView, refuseUnknownPosition } from './feed.dto.js';
import { EventsStore } from './events.store.js';
import { Query } from '../platform/http/query.decorator.js';

@ApiTags('Events')
@Controller('events')
export class FeedController {
  constructor(
    private readonly events: EventsStore,
    private readonly environment: Environment,
  ) {}

  @Get()
  @Operation('events:read', {
    columns: { SEQUENCE: 'sequence', AGE: 'time', EVENT: 'type', SUBJECT: 'subject' },
    summary: 'Read the feed of events page by page',
    description:
      'No event is skipped or reordered within a subject. `next` is always present, also after the last event, so a reader can continue with it for ever.',
  })
  @ApiOkResponse({
    description: 'The events after `after`, in order, and `next`, the next cursor',
    type: FeedView,
  })
  async listEvents(@Query() { after, types, sessionId, limit }: FeedQuery): Promise<FeedView> {
    const [page, loss] = await Promise.all([
      this.events.readPage(after, limit, { types: types && eventNamesOf(types), sessionId }),
      this.events.findLoss(after),
    ]);
    refuseUnknownPosition('after', after, page.last, loss);
    const items = page.events.map((event) => toCloudEvent(event, this.environment.EVENT_SOURCE));
    return { items, next: formatSequence(page.next) };
  }
}
