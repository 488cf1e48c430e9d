import { Controller, Get, Res } from '@nestjs/common';
import {
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiServiceUnavailableResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../http/public.decorator.js';
import { Health } from './health.service.js';

export class LivenessView {
  @ApiProperty({ enum: ['live'] })
  status: 'live';
}

export class ReadinessView {
  @ApiProperty({ enum: ['ready', 'unready'] })
  status: 'ready' | 'unready';

  @ApiProperty({ type: [String], description: 'What is missing, for people; empty when ready' })
  missing: string[];
}

@ApiTags('Operation')
@Controller('health')
export class HealthController {
  constructor(private readonly health: Health) {}

  // Does not query the database: restarting this process would not repair it.
  @Get('live')
  @Public()
  @ApiOperation({ operationId: 'getLiveness', summary: 'Whether the process answers at all' })
  @ApiOkResponse({ type: LivenessView })
  live(): LivenessView {
    return { status: 'live' };
  }

  @Get('ready')
  @Public()
  @ApiOperation({ operationId: 'getReadiness', summary: 'Whether requests should be sent here' })
  @ApiOkResponse({ description: 'The database answers and has every migration', type: ReadinessView })
  @ApiServiceUnavailableResponse({ description: 'Not now: see `missing`', type: ReadinessView })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<ReadinessView> {
    const missing = await this.health.missing();
    reply.status(missing.length === 0 ? 200 : 503);
    return { status: missing.length === 0 ? 'ready' : 'unready', missing };
  }
}
