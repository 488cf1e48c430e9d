import 'reflect-metadata';
import { Controller, Get, Injectable, Module, NotFoundException, Param } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../../src/platform/database/generated/client.js';
import { takePart } from '../harness/contender.js';

let databaseUrl = '';

@Injectable()
class PrismaService extends PrismaClient {
  constructor() {
    super({ adapter: new PrismaPg(new pg.Pool({ connectionString: databaseUrl, max: 10 })) });
  }
}

@Controller('sessions')
class SessionsController {
  constructor(private readonly prisma: PrismaService) {}

  @Get(':id')
  async read(@Param('id') id: string) {
    const session = await this.prisma.onboardingSession.findUnique({
      where: { id },
      include: { inverters: true, user: { select: { tenantReference: true } } },
    });
    if (session === null) throw new NotFoundException();
    return session;
  }
}

@Module({ controllers: [SessionsController], providers: [PrismaService] })
class SessionsModule {}

// A service as in the guides of NestJS and Prisma, without authentication and validation. Unlike our service, it does not return the
// time of the next read.
takePart(async (request) => {
  databaseUrl = request.databaseUrl;
  const app = await NestFactory.create<NestExpressApplication>(SessionsModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  return { url: await app.getUrl() };
});
