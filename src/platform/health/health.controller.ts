import { Controller, Get, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../http/public.decorator.js';
import { oneOf, schemaOf, texts } from '../openapi/schema-of.js';
import { Readiness } from './readiness.service.js';

class LivenessView extends schemaOf({ status: oneOf(['live']) }) {}

class ReadinessView extends schemaOf({
  status: oneOf(['ready', 'unready']),
  missing: texts('What is missing, for people; empty when ready'),
  warnings: texts('What is wrong with all replicas alike, for people'),
}) {}

@ApiTags('Operation')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  @Public()
  @ApiOperation({
    operationId: 'getLiveness',
    summary: 'Whether the process responds',
    description: 'Does not query the database: restarting this process would not repair it.',
  })
  @ApiOkResponse({ type: LivenessView })
  live() {
    return { status: 'live' };
  }

  @Get('ready')
  @Public()
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'Whether requests should be sent here',
    description:
      'Checks within 0.9 seconds that the database has every migration and commits writes, and that the service is not stopping.',
  })
  @ApiOkResponse({ description: 'The database has every migration and commits writes', type: ReadinessView })
  @ApiServiceUnavailableResponse({ description: 'Not ready: `missing` has the reasons', type: ReadinessView })
  async ready(@Res({ passthrough: true }) reply: FastifyReply) {
    const missing = await this.readiness.missing();
    const isReady = missing.length === 0;
    reply.status(isReady ? 200 : 503);
    return { status: isReady ? 'ready' : 'unready', missing, warnings: this.readiness.warnings };
  }
}
