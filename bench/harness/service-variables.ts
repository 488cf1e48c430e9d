import type { ContenderRequest } from './contender.js';

export const ADMIN_KEY = 'administrator-key-of-the-benchmark';

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
    // One more than the poller uses, because one call in flight is reserved for interactive requests.
    SCS_MAX_CONCURRENCY: String(request.concurrency + 1),
    ADMIN_API_KEY: ADMIN_KEY,
    ENCRYPTION_KEYS: Buffer.alloc(32, 'bench').toString('base64'),
    // Requests are counted as in production, but the only key never reaches its limit.
    API_MAX_REQUESTS_PER_SECOND: '1000000',
    // The tick is short, so that the worker soon notices the start of a round.
    POLL_TICK_MS: '50',
    // This interval is longer than a round, so that no session is due twice in a round.
    POLL_MIN_INTERVAL_MS: '3600000',
    POLL_MAX_INTERVAL_MS: '7200000',
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'json',
    ...request.environment,
  };
}
