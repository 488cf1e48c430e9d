import { Controller, Get, Headers, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentKey, Operation } from '../access/operation.decorator.js';
import { actorOf, type Principal } from '../access/scopes.js';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import { HeldRequests } from '../platform/http/held-requests.js';
import { refuse } from '../platform/http/validation.js';
import { untraced } from '../platform/tracing/tracing.js';
import { eventNamesOf } from '../events/cloud-event.js';
import { EventSignal } from '../events/event-signal.service.js';
import { EventsStore } from './events.store.js';
import { SEQUENCE, SequenceParameter } from '../events/sequence.dto.js';
import { refuseUnknownPosition, SessionIdParameter, TypesParameter } from './feed.dto.js';
import { EventStream } from './event-stream.js';
import { EventPages } from './event-pages.service.js';
import { OpenStreams } from './open-streams.service.js';
import { Query } from '../platform/http/query.decorator.js';

const LAST_EVENT_ID = 'Last-Event-ID';

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Without this header, nginx forwards events only when its buffer is full.
  'x-accel-buffering': 'no',
};

class StreamQuery {
  @SequenceParameter(
    'The `sequence` of an event, or a `next` of the feed; the stream starts after it. `0` is the beginning. Default without `Last-Event-ID`: the newest event',
  )
  after?: string;

  @TypesParameter()
  types?: string[];

  @SessionIdParameter()
  sessionId?: string;
}

@ApiTags('Events')
@Controller('events/stream')
export class StreamController {
  constructor(
    private readonly events: EventsStore,
    private readonly pages: EventPages,
    private readonly newEvents: EventSignal,
    private readonly streams: OpenStreams,
    private readonly held: HeldRequests,
  ) {}

  @Get()
  @Operation('events:read', {
    command: 'events tail',
    summary: 'Follow the events as server-sent events',
    description:
      'Each event has its `sequence` as `id`, its type as `event` and the CloudEvent as `data`. A client that reconnects with `Last-Event-ID` misses no event. Default: start after the newest event; the first block contains its `id`.',
  })
  @ApiHeader({
    name: LAST_EVENT_ID,
    required: false,
    description: 'The last `id` received; the stream starts after it. Overrides `after`',
    schema: { type: 'string', pattern: SEQUENCE.source },
  })
  @ApiOkResponse({
    description: 'An endless stream of events',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  })
  @ApiProblems('replica_busy')
  async streamEvents(
    @Query() { after, types, sessionId }: StreamQuery,
    @Headers(LAST_EVENT_ID) sentEventId: string | undefined,
    @CurrentKey() key: Principal,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const filter = { types: types && eventNamesOf(types), sessionId };
    // A client that has received no id yet may send an empty one (HTML standard, section 9.2.3).
    const lastEventId = sentEventId === '' ? undefined : sentEventId;
    if (lastEventId !== undefined && !SEQUENCE.test(lastEventId)) {
      const message = 'must be the `id` of an event of this stream: a number of at most 19 digits';
      refuse([{ field: LAST_EVENT_ID, message }]);
    }
    const newest = await this.events.getNewest();
    const position = lastEventId ?? after ?? newest;
    const loss = await this.events.findLoss(position);
    refuseUnknownPosition(lastEventId === undefined ? 'after' : LAST_EVENT_ID, position, newest, loss);
    // A response to HEAD has no body. Without this check, the client would wait for ever, because the stream does not end.
    if (request.method === 'HEAD') return void reply.headers(STREAM_HEADERS).send();
    await this.held.hold('stream', request, actorOf(key), async () => {
      reply.hijack();
      reply.raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...STREAM_HEADERS });
      const stream = new EventStream(reply.raw, this.pages, this.newEvents, filter, BigInt(position), key);
      // A stream lasts for hours, so its reads would form one endless trace.
      await untraced(() => this.streams.run(stream));
    });
  }
}
