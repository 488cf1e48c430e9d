import type { ContenderRequest } from './contender.js';

export const ADMIN_KEY = 'administrator-key-of-the-benchmark';

/** The service as a benchmark runs it; what is not named here is as it comes. */
export function serviceVariables(request: ContenderRequest): Record<string, string> {
  return {
    NODE_ENV: 'test',
    ROLE: 'worker',
    PORT: '0',
    DATABASE_URL: request.databaseUrl,
    SCS_BASE_URL: request.remoteUrl,
    SCS_API_KEY: 'bench-api-key',
    SCS_CLIENT_ID: 'bench-client',
    SCS_CLIENT_SECRET: 'bench-secret',
    // One place is kept from the poller for whoever waits at a screen.
    SCS_MAX_CONCURRENCY: String(request.concurrency + 1),
    ADMIN_API_KEY: ADMIN_KEY,
    ENCRYPTION_KEYS: Buffer.alloc(32, 'bench').toString('base64'),
    // One key makes all requests; counted they are all the same.
    API_MAX_REQUESTS_PER_SECOND: '1000000',
    // Often enough to notice the start of a round; longer than a round until a session is due again.
    POLL_TICK_MS: '50',
    POLL_MIN_INTERVAL_MS: '3600000',
    POLL_MAX_INTERVAL_MS: '7200000',
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'json',
    ...request.environment,
  };
}
