import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../access/require-scope.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { refuse } from '../platform/http/validation.js';
import { EVENT_NAMES, type EventName } from './catalogue.js';
import { findEventName, toCloudEvent } from './cloud-event.js';
import { FeedQuery, FeedView } from './events.dto.js';
import { EventsStore } from './events.store.js';

@ApiTags('Events')
@Controller('events')
export class EventsController {
  constructor(private readonly events: EventsStore) {}

  @Get()
  @RequireScope('events:read')
  @ApiOperation({
    operationId: 'listEvents',
    summary: 'Follow the feed of events: ask on with `next`, for ever',
  })
  @ApiOkResponse({ description: 'The events after `after`, in order', type: FeedView })
  @ApiProblems('invalid_request')
  async list(@Query() { after, types, limit }: FeedQuery): Promise<FeedView> {
    const page = await this.events.readPage(after, types === undefined ? undefined : readTypes(types), limit);
    // Otherwise such a reader would wait in silence until as many events exist, and miss all of them: its number comes from
    // another database, or from before one was restored from a backup.
    if (BigInt(after) > BigInt(page.last)) {
      refuse([{ field: 'after', message: `lies beyond the newest event, whose sequence is ${page.last}` }]);
    }
    return { items: page.events.map(toCloudEvent), next: page.next };
  }
}

function readTypes(list: string): EventName[] {
  const texts = list.split(',').map((text) => text.trim());
  const names = texts.map(findEventName);
  const unknown = texts.filter((_text, index) => names[index] === null);
  if (unknown.length > 0) {
    const said = unknown.map((text) => JSON.stringify(text.slice(0, 100))).join(', ');
    refuse([
      { field: 'types', message: `must list event types; ${said} is none of ${EVENT_NAMES.join(', ')}` },
    ]);
  }
  return names.filter((name) => name !== null);
}
