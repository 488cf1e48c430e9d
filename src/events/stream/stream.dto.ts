import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, Matches } from 'class-validator';
import { SessionIdParameter } from '../feed/events.dto.js';
import { SEQUENCE } from '../feed/parameters.js';

export class StreamQuery {
  @ApiPropertyOptional({
    description:
      'The `sequence` of an event, or a `next` of the feed; the stream starts after it. `0` is the beginning. Default without `Last-Event-ID`: the newest event',
    pattern: SEQUENCE.source,
    type: String,
  })
  @IsOptional()
  @Matches(SEQUENCE, { message: 'after must be the `sequence` of an event: a number of at most 19 digits' })
  after?: string;

  @ApiPropertyOptional({
    description:
      'Only events of these types, separated by commas: `session.online` or `pv.session.online.v1`. Default: all',
    example: 'session.online,inverter.online',
    type: String,
  })
  @IsOptional()
  @IsString()
  types?: string;

  @ApiPropertyOptional({ description: 'Only events about this session', format: 'uuid' })
  @SessionIdParameter()
  sessionId?: string;
}
