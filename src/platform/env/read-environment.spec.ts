import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { Environment } from './environment.js';
import {
  ConfigurationError,
  ENVIRONMENT_NAMES,
  LOCAL_DEFAULTS,
  readEnvironment,
} from './read-environment.js';

const KEY = Buffer.alloc(32, 1).toString('base64');
const COMPLETE = {
  DATABASE_URL: 'postgresql://user:secret-password@localhost/pv',
  SCS_BASE_URL: 'https://scs.example',
  SCS_API_KEY: 'secret-api-key',
  SCS_CLIENT_ID: 'client',
  SCS_CLIENT_SECRET: 'secret-client-secret',
  ADMIN_API_KEY: 'secret-administrator-key-0123456789',
  ENCRYPTION_KEYS: KEY,
};

function problemsOf(source: Record<string, string | undefined>): readonly string[] {
  try {
    readEnvironment({ ...COMPLETE, ...source });
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe('readEnvironment', () => {
  it('says which variables an address of the remote service needs beside it', () => {
    expect(problemsOf({ SCS_API_KEY: undefined, SCS_CLIENT_ID: undefined })).toEqual([
      'SCS_API_KEY is required with SCS_BASE_URL',
      'SCS_CLIENT_ID is required with SCS_BASE_URL',
    ]);
    expect(problemsOf({ DATABASE_URL: undefined })).toEqual(['DATABASE_URL is required']);
  });

  it('reads the defaults of the contract', () => {
    const environment = readEnvironment({ ...COMPLETE, LOG_FORMAT: 'json' });
    expect({ ...environment }).toEqual({
      ...COMPLETE,
      NODE_ENV: 'development',
      HOST: '127.0.0.1',
      PORT: 3000,
      API_MAX_REQUESTS_PER_SECOND: 300,
      ROLE: 'all',
      DATABASE_POOL_SIZE: 10,
      SCS_SCOPE: 'pvcurtailment',
      SCS_SESSION_PATH: 'auto',
      SCS_TIMEOUT_MS: 10_000,
      SCS_MAX_CONCURRENCY: 32,
      SCS_MAX_REQUESTS_PER_SECOND: 0,
      ENCRYPTION_KEYS: [KEY],
      POLL_TICK_MS: 1_000,
      POLL_MIN_INTERVAL_MS: 15_000,
      POLL_MAX_INTERVAL_MS: 900_000,
      POLL_BATCH_SIZE: 500,
      POLL_LEASE_MS: 60_000,
      SETTLE_HOURS: 72,
      WEBHOOK_RETRY_SCHEDULE_MS: [
        5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000,
      ],
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: true,
      LATE_ONLINE_DAYS: 7,
      EAN_CHECK_DIGIT: 'warn',
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'json',
    });
  });

  it.each([
    ['PORT', '', 'PORT is blank'],
    ['PORT', '  ', 'PORT is blank'],
    ['PORT', '65536', 'PORT must not be greater than 65535'],
    ['PORT', '-1', 'PORT must not be less than 0'],
    ['PORT', '80.5', 'PORT must be an integer'],
    ['PORT', '0x50', 'PORT must be an integer'],
    ['PORT', '3e3', 'PORT must be an integer'],
    ['PORT', 'http', 'PORT must be an integer'],
    ['PORT', ' 3000', 'PORT begins or ends with a blank'],
    ['PORT', '"3000"', 'PORT is in quotes'],
    ['SCS_API_KEY', "'secret'", 'SCS_API_KEY is in quotes'],
    ['SCS_CLIENT_SECRET', 'secret\n', 'SCS_CLIENT_SECRET holds a line break'],
    ['SCS_API_KEY', 'two\r\nlines', 'SCS_API_KEY holds a line break'],
    ['SCS_API_KEY', 'schlüssel', 'SCS_API_KEY holds characters that no HTTP header takes'],
    ['TRUSTED_PROXIES', 'proxy.example', 'TRUSTED_PROXIES must be addresses or networks'],
    ['TRUSTED_PROXIES', '10.0.0.0/8,', 'TRUSTED_PROXIES must be addresses or networks'],
    ['TRUSTED_PROXIES', '10.0.0.0/33', 'TRUSTED_PROXIES must be addresses or networks'],
    ['TRUSTED_PROXIES', '0.0.0.0/0', 'TRUSTED_PROXIES must be addresses or networks'],
    ['ROLE', 'both', 'ROLE must be one of the following values: api, worker, all'],
    ['DATABASE_URL', 'mysql://localhost/pv', 'DATABASE_URL must be a URL that begins with postgresql://'],
    ['DATABASE_URL', 'postgresql://', 'DATABASE_URL must be a URL that begins with postgresql://'],
    ['DATABASE_URL', 'postgresql://user:pass/word@localhost/pv', 'DATABASE_URL cannot be parsed'],
    ['SCS_BASE_URL', 'scs.example', 'SCS_BASE_URL must be a URL that begins with'],
    ['SCS_BASE_URL', 'https://user:secret@scs.example', 'SCS_BASE_URL must not hold'],
    ['SCS_BASE_URL', 'https://scs.example/?a=1', 'SCS_BASE_URL must not hold'],
    ['ADMIN_API_KEY', 'short', 'ADMIN_API_KEY must be'],
    [
      'ENCRYPTION_KEYS',
      Buffer.alloc(31).toString('base64'),
      'ENCRYPTION_KEYS must be base64 keys of 32 bytes',
    ],
    [
      'ENCRYPTION_KEYS',
      Buffer.alloc(33).toString('base64'),
      'ENCRYPTION_KEYS must be base64 keys of 32 bytes',
    ],
    ['ENCRYPTION_KEYS', `${KEY},`, 'ENCRYPTION_KEYS must be base64 keys of 32 bytes'],
    ['POLL_LEASE_MS', '9999', 'POLL_LEASE_MS must be greater than SCS_TIMEOUT_MS'],
    ['POLL_MIN_INTERVAL_MS', '900001', 'POLL_MIN_INTERVAL_MS must not be greater than POLL_MAX_INTERVAL_MS'],
    ['POLL_MAX_INTERVAL_MS', '2147483648', 'POLL_MAX_INTERVAL_MS must not be greater than 2147483647'],
    ['EVENT_BROKER_URL', 'broker.example', 'EVENT_BROKER_URL must be an address such as nats://'],
    ['EVENT_BROKER_URL', 'kafka://broker.example', 'EVENT_BROKER_URL must be an address such as nats://'],
    ['EVENT_BROKER_URL', 'nats://a.example,', 'EVENT_BROKER_URL must be an address such as nats://'],
    ['EVENT_BROKER_URL', 'nats://user:100%@a.example', 'EVENT_BROKER_URL cannot be parsed'],
    ['EVENT_BROKER_URL', 'nats://a.example:port', 'EVENT_BROKER_URL cannot be parsed'],
    ['WEBHOOK_RETRY_SCHEDULE_MS', '5000,soon', 'WEBHOOK_RETRY_SCHEDULE_MS must be whole numbers'],
    ['WEBHOOK_RETRY_SCHEDULE_MS', '5000,', 'WEBHOOK_RETRY_SCHEDULE_MS must be whole numbers'],
    ['WEBHOOK_RETRY_SCHEDULE_MS', '604800001', 'WEBHOOK_RETRY_SCHEDULE_MS must not be greater'],
    ['WEBHOOK_ALLOW_PRIVATE_ADDRESSES', 'yes', 'WEBHOOK_ALLOW_PRIVATE_ADDRESSES must be true or false'],
    ['LOG_FORMAT', 'xml', 'LOG_FORMAT must be one of the following values: pretty, json'],
  ])('refuses %s=%j by name, and says what is expected', (name, value, expected) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(expected);
  });

  it.each([
    ['production', undefined, false],
    ['production', 'true', true],
    ['development', undefined, true],
    ['development', 'false', false],
  ])(
    'in %s, with WEBHOOK_ALLOW_PRIVATE_ADDRESSES %j, private addresses are allowed: %j',
    (mode, value, allowed) => {
      const source = { ...COMPLETE, NODE_ENV: mode, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: value };
      expect(readEnvironment(source).WEBHOOK_ALLOW_PRIVATE_ADDRESSES).toBe(allowed);
    },
  );

  it('reports every problem at once', () => {
    const problems = problemsOf({ PORT: 'x', ROLE: 'y', POLL_LEASE_MS: '500', LOG_LEVEL: '' });
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual([
      'LOG_LEVEL',
      'POLL_LEASE_MS',
      'PORT',
      'ROLE',
    ]);
  });

  it('never repeats a value', () => {
    const wrong = Object.fromEntries(Object.keys(COMPLETE).map((name) => [name, `"canary ${name}"`]));
    expect(problemsOf(wrong)).toHaveLength(Object.keys(COMPLETE).length);
    expect(problemsOf(wrong).join('\n')).not.toContain('canary');
  });

  it('takes several encryption keys, for rotation', () => {
    expect(readEnvironment({ ...COMPLETE, ENCRYPTION_KEYS: `${KEY},${KEY}` }).ENCRYPTION_KEYS).toEqual([
      KEY,
      KEY,
    ]);
  });

  it('takes addresses and networks of proxies', () => {
    const proxies = ['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'];
    expect(readEnvironment({ ...COMPLETE, TRUSTED_PROXIES: proxies.join(',') }).TRUSTED_PROXIES).toEqual(
      proxies,
    );
  });

  it.each([
    'nats://127.0.0.1:4222',
    'nats://user:pass%2Fword@a.example',
    'tls://token@a.example/,tls://b.example:4443',
  ])('takes %s as the address of a broker', (url) => {
    expect(readEnvironment({ ...COMPLETE, EVENT_BROKER_URL: url }).EVENT_BROKER_URL).toBe(url);
  });

  it('demands in production, by name and together with other problems, what is embedded or generated elsewhere', () => {
    const nothing = Object.fromEntries(LOCAL_DEFAULTS.map((name) => [name, undefined]));
    const problems = problemsOf({ ...nothing, NODE_ENV: 'production', PORT: 'x' });
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual(
      [...LOCAL_DEFAULTS, 'PORT'].sort(),
    );
    expect(problems.filter((problem) => problem.includes('in production'))).toHaveLength(
      LOCAL_DEFAULTS.length,
    );
  });

  it('demands https in production, but not to the loopback', () => {
    const production = { NODE_ENV: 'production' };
    expect(problemsOf({ ...production, SCS_BASE_URL: 'http://scs.example' })).toEqual([
      expect.stringContaining('SCS_BASE_URL must begin with https:// in production'),
    ]);
    expect(problemsOf({ ...production, SCS_BASE_URL: 'http://127.0.0.1:4010' })).toEqual([]);
    expect(problemsOf({ SCS_BASE_URL: 'http://scs.example' })).toEqual([]);
  });
});

describe('.env.example', () => {
  it('lists every variable, in the order of the class, with its default', async () => {
    const text = await readFile(new URL('../../../.env.example', import.meta.url), 'utf8');
    const listed = [...text.matchAll(/^#([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
    const defaults = new Environment();
    const expected = ENVIRONMENT_NAMES.map((name) => {
      const value =
        name === 'LOG_FORMAT' ? undefined : Object.entries(defaults).find(([key]) => key === name)?.[1];
      return [name, value === undefined ? '' : String(value)];
    });
    expect(listed.sort()).toEqual(expected.sort());
  });
});
