import { Controller, Get, Headers, Query, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentKey } from '../../access/current-key.decorator.js';
import { RequireScope } from '../../access/require-scope.decorator.js';
import { actorOf, type Principal } from '../../access/scopes.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import { HeldRequests } from '../../platform/http/held-requests.js';
import { refuse } from '../../platform/http/validation.js';
import { EventsStore } from '../feed/events.store.js';
import { readTypes, refuseBeyondNewest, SEQUENCE } from '../feed/parameters.js';
import { EventStream } from './event-stream.js';
import { EventTail } from './event-tail.service.js';
import { OpenStreams } from './open-streams.service.js';
import { StreamOutput } from './stream-output.js';
import { StreamQuery } from './stream.dto.js';

const LAST_EVENT_ID = 'Last-Event-ID';

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Otherwise nginx forwards events only when its buffer is full.
  'x-accel-buffering': 'no',
};

@ApiTags('Events')
@Controller('events/stream')
export class StreamController {
  constructor(
    private readonly events: EventsStore,
    private readonly tail: EventTail,
    private readonly streams: OpenStreams,
    private readonly held: HeldRequests,
  ) {}

  @Get()
  @RequireScope('events:read')
  @ApiOperation({
    operationId: 'streamEvents',
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
  @ApiProblems('invalid_request', 'replica_busy')
  async follow(
    @Query() { after, types, sessionId }: StreamQuery,
    @Headers(LAST_EVENT_ID) lastEventId: string | undefined,
    @CurrentKey() key: Principal,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const names = readTypes(types);
    const newest = await this.events.getNewest();
    const position = readPlace(lastEventId, after, newest);
    // HEAD has no body. Without this, the client would wait for ever for the end of the stream.
    if (request.method === 'HEAD') return void reply.headers(STREAM_HEADERS).send();
    await this.held.hold('stream', request, actorOf(key), async () => {
      const leave = this.tail.join(BigInt(newest));
      try {
        reply.hijack();
        reply.raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...STREAM_HEADERS });
        const filter = { ...(names && { types: names }), ...(sessionId !== undefined && { sessionId }) };
        const output = new StreamOutput(reply.raw);
        const stream = new EventStream(output, this.tail, this.events, filter, BigInt(position));
        await this.streams.run(stream, key.id);
      } finally {
        leave();
      }
    });
  }
}

function readPlace(lastEventId: string | undefined, after: string | undefined, newest: string): string {
  if (lastEventId !== undefined && !SEQUENCE.test(lastEventId)) {
    const message = 'must be the `id` of an event of this stream: a number of at most 19 digits';
    refuse([{ field: LAST_EVENT_ID, message }]);
  }
  const place = lastEventId ?? after ?? newest;
  refuseBeyondNewest(lastEventId === undefined ? 'after' : LAST_EVENT_ID, place, newest);
  return place;
}
