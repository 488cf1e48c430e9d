import type { Environment } from '../../src/platform/env/environment.js';
import { readEnvironment } from '../../src/platform/env/read-environment.js';

export const ADMIN_KEY = 'administrator-key-of-the-tests-0123456789';

/** The credentials of the sandboxes. Tests whose remote service checks none use them, too. */
export const CREDENTIALS = {
  SCS_API_KEY: 'test-api-key',
  SCS_CLIENT_ID: 'test-client-id',
  SCS_CLIENT_SECRET: 'test-client-secret',
};

export function testEnvironment(): Record<string, string> {
  return {
    NODE_ENV: 'test',
    PORT: '0',
    ADMIN_API_KEY: ADMIN_KEY,
    ENCRYPTION_KEYS: Buffer.alloc(32, 'key of the tests').toString('base64'),
    POLL_TICK_MS: '200',
    POLL_MIN_INTERVAL_MS: '50',
    POLL_MAX_INTERVAL_MS: '1000',
    // No limit, because tests send requests faster than any app. The limit has its own tests.
    API_MAX_REQUESTS_PER_SECOND: '0',
    LOG_FORMAT: 'json',
    LOG_LEVEL: 'warn',
  };
}

/** Returns an environment with this database and an unreachable remote service. */
export function environmentFor(databaseUrl: string, overrides: Record<string, string> = {}): Environment {
  return readEnvironment({
    ...testEnvironment(),
    DATABASE_URL: databaseUrl,
    SCS_BASE_URL: 'http://127.0.0.1:9',
    ...CREDENTIALS,
    ...overrides,
  });
}
