import { NestFactory } from '@nestjs/core';
import { AppModule } from '../src/app.module.js';
import { readEnvironment } from '../src/platform/env/read-environment.js';
import { ServiceLogger } from '../src/platform/logging/service-logger.js';
import { takePart } from './harness/contender.js';

// The real service in the role of a worker. It is told nothing: it finds by itself what is due.
takePart(async ({ remoteUrl, databaseUrl, concurrency }) => {
  const environment = readEnvironment({
    NODE_ENV: 'test',
    ROLE: 'worker',
    PORT: '0',
    DATABASE_URL: databaseUrl,
    SCS_BASE_URL: remoteUrl,
    SCS_API_KEY: 'bench-api-key',
    SCS_CLIENT_ID: 'bench-client',
    SCS_CLIENT_SECRET: 'bench-secret',
    // One place is kept from the poller for whoever waits at a screen.
    SCS_MAX_CONCURRENCY: String(concurrency + 1),
    ADMIN_API_KEY: 'administrator-key-of-the-benchmark',
    ENCRYPTION_KEYS: Buffer.alloc(32, 'bench').toString('base64'),
    // Often enough to notice the start of a round; longer than a round until a session is due again.
    POLL_TICK_MS: '50',
    POLL_MIN_INTERVAL_MS: '3600000',
    POLL_MAX_INTERVAL_MS: '7200000',
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'json',
  });
  const logger = new ServiceLogger(environment);
  await NestFactory.createApplicationContext(AppModule.forRoot(environment), { logger });
  return async () => {};
});
