import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createClient } from '@pv-onboarding/client';
import { CustomersController } from './customers.controller.js';
import { CustomersStore } from './customers.store.js';
import { WebhooksController } from './webhooks.controller.js';

const { PORT = '8080', PV_URL = 'http://127.0.0.1:3000', PV_KEY = '', WEBHOOK_SECRETS = '' } = process.env;

@Module({
  controllers: [CustomersController, WebhooksController],
  providers: [
    CustomersStore,
    { provide: 'PV_CLIENT', useValue: createClient({ baseUrl: PV_URL, apiKey: PV_KEY }) },
    { provide: 'WEBHOOK_SECRETS', useValue: WEBHOOK_SECRETS.split(',') },
  ],
})
class AppModule {}

const app = await NestFactory.create<NestExpressApplication>(AppModule);
// The signature of a webhook is over its bytes as they arrived.
app.useBodyParser('raw', { type: 'application/cloudevents+json' });
app.enableShutdownHooks();
await app.listen(Number(PORT), '127.0.0.1');
