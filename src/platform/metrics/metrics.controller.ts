import { Controller, Get, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../http/public.decorator.js';
import { Metrics } from './metrics.js';

@ApiTags('Operation')
@Controller('metrics')
export class MetricsController {
  private text: Promise<string> | undefined;

  constructor(private readonly metrics: Metrics) {}

  @Get()
  @Public()
  @ApiOperation({ operationId: 'getMetrics', summary: 'Metrics in the text format of Prometheus' })
  @ApiProduces('text/plain')
  @ApiOkResponse({ schema: { type: 'string' } })
  async read(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    reply.header('content-type', this.metrics.registry.contentType);
    // Collecting takes 4 ms and needs no key, so concurrent requests share one collection.
    this.text ??= this.metrics.registry.metrics().finally(() => (this.text = undefined));
    return this.text;
  }
}
