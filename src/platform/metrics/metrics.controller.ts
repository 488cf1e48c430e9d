import { Controller, Get, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { PublicOutsideProduction } from '../http/public.decorator.js';
import { ApiProblems } from '../openapi/api-problems.decorator.js';
import { Metrics } from './metrics.js';

@ApiTags('Operation')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @PublicOutsideProduction()
  @ApiOperation({
    operationId: 'getMetrics',
    summary: 'Metrics in the text format of Prometheus',
    description:
      'Returns the metrics of the responding replica. In production, it needs a valid key, with any scope. ' +
      'If METRICS_PORT is set, this is a 404: that port has them, without a key.',
    security: [{}, { apiKey: [] }],
  })
  @ApiProblems('unauthenticated', 'too_many_requests')
  @ApiProduces('text/plain')
  @ApiOkResponse({ schema: { type: 'string' } })
  async read(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    reply.header('content-type', this.metrics.registry.contentType);
    return this.metrics.read();
  }
}
