import { Controller, Get, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../http/public.decorator.js';
import { Metrics } from './metrics.js';

@ApiTags('Operation')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @Public()
  @ApiOperation({
    operationId: 'getMetrics',
    summary: 'Metrics in the text format of Prometheus',
    description:
      'Returns the metrics of the responding replica. Needs no key. If METRICS_PORT is set, this is a 404: that port has them.',
  })
  @ApiProduces('text/plain')
  @ApiOkResponse({ schema: { type: 'string' } })
  async read(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    reply.header('content-type', this.metrics.registry.contentType);
    return this.metrics.read();
  }
}
