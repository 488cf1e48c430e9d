import { Body, Controller, Get, HttpCode, Module, Param, Post, Req } from '@nestjs/common';
import { Query } from '../../../src/platform/http/query.decorator.js';
import { RouteConfig, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Type } from 'class-transformer';
import { IsObject, IsOptional, ValidateNested } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { Field } from '../../../src/platform/http/field.js';
import { createApp } from '../../../src/platform/http/create-app.js';
import { CursorOf, LimitQuery, toPage } from '../../../src/platform/http/page.js';
import { HTTP_LIMITS, type HttpLimits } from '../../../src/platform/http/http-limits.js';
import { currentRequest } from '../../../src/platform/http/request-context.js';
import { ParseUuid } from '../../../src/platform/http/parameters.js';
import { AsParsed } from '../../../src/platform/http/validation.js';
import { jsonNumberText } from '../../../src/platform/json/lossless.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { ProblemPages } from '../../../src/platform/problem/problem-pages.js';
import { MetricsController } from '../../../src/platform/metrics/metrics.controller.js';
import { ProblemsController } from '../../../src/platform/problem/problems.controller.js';

class Item {
  @Field({ required: true, type: String, minLength: 1, maxLength: 20 })
  name: string;

  @AsParsed()
  @IsOptional()
  number?: unknown;
}

class ItemList {
  @Field({ required: true, type: Item, isArray: true, minItems: 1, maxItems: 100 })
  @ValidateNested({ each: true })
  @Type(() => Item)
  items: Item[];

  @AsParsed()
  @IsOptional()
  @IsObject()
  metadata?: Record<string, unknown>;
}

class Optional {
  @Field({ type: 'integer' })
  amount?: number;
}

class Filters extends LimitQuery {
  @CursorOf('rows', { row: 'integer' })
  cursor?: { row: string };

  @Field({ type: String })
  state?: string;
}

export const thrown: { error: unknown } = { error: undefined };

@Controller('things')
class ThingsController {
  @Post()
  create(@Body() { items, metadata }: ItemList): object {
    return {
      items: items.map(({ name, number }) => ({ name, number: jsonNumberText(number) })),
      metadata: metadata ?? null,
    };
  }

  @Post('optional')
  @HttpCode(200)
  optional(@Body() body: Optional): object {
    return { amount: body.amount ?? null };
  }

  @Post('file')
  @RouteConfig({ takesFile: true })
  async file(@Req() { body }: FastifyRequest): Promise<object> {
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) bytes += chunk.length;
    return { bytes };
  }

  @Post('throw')
  fail(): never {
    throw thrown.error;
  }

  @Get()
  list(@Query() { limit, cursor, state }: Filters): object {
    const from = Number(cursor?.row ?? 0);
    const rows = Array.from({ length: limit + 1 }, (_, index) => from + index + 1).filter((row) => row <= 7);
    const page = toPage('rows', rows, limit, (row) => [row]);
    return { ...page, limit, state: state ?? null };
  }

  @Get('context')
  context(): object {
    return { ...currentRequest() };
  }

  @Get('never')
  never(): Promise<never> {
    return new Promise(() => {});
  }

  @Get(':thingId')
  read(@Param('thingId', ParseUuid) thingId: string): object {
    return { thingId };
  }
}

@Module({
  controllers: [ThingsController, MetricsController, ProblemsController],
  providers: [Metrics, ProblemPages],
})
class FixtureModule {}

export async function startHttpFixture(
  limits: HttpLimits = HTTP_LIMITS,
): Promise<{ app: NestFastifyApplication; url: string }> {
  const app = await createApp(FixtureModule, { ROLE: 'all' }, false, limits);
  await app.listen(0, '127.0.0.1');
  return { app, url: await app.getUrl() };
}
