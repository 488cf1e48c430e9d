import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { Environment } from './environment.js';
import { ENVIRONMENT_NAMES } from './environment-names.js';
import { ConfigurationError } from './configuration-error.js';
import { LOCAL_DEFAULTS, readEnvironment, warningsOf } from './read-environment.js';

const KEY = Buffer.alloc(32, 'key of this spec').toString('base64');
const COMPLETE = {
  DATABASE_URL: 'postgresql://user:secret-password@localhost/pv',
  SCS_BASE_URL: 'https://scs.example',
  SCS_API_KEY: 'secret-api-key',
  SCS_CLIENT_ID: 'client',
  SCS_CLIENT_SECRET: 'secret-client-secret',
  ADMIN_API_KEY: 'secret-administrator-key-0123456789',
  ENCRYPTION_KEYS: KEY,
};

const PROVIDER = {
  CONSOLE_OIDC_ISSUER: 'https://login.example/realms/company',
  CONSOLE_OIDC_CLIENT_ID: 'console',
  CONSOLE_OIDC_CLIENT_SECRET: 'secret-of-the-console',
  CONSOLE_OIDC_GROUPS: 'Night shift=onboarding:read,events:read;leads=admin',
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

const namesIn = (problems: readonly string[]) => problems.map((problem) => problem.split(' ')[0]);

describe('readEnvironment', () => {
  it('names every missing variable', () => {
    expect(problemsOf({ SCS_API_KEY: undefined, SCS_CLIENT_ID: undefined })).toEqual([
      'SCS_API_KEY is required with SCS_BASE_URL',
      'SCS_CLIENT_ID is required with SCS_BASE_URL',
    ]);
    expect(problemsOf({ DATABASE_URL: undefined })).toEqual(['DATABASE_URL is required']);
  });

  it('reads the defaults, some of which follow from other variables', () => {
    const environment = readEnvironment({ ...COMPLETE, LOG_FORMAT: 'json' });
    expect({ ...environment }).toEqual({
      ...new Environment(),
      ...COMPLETE,
      ENCRYPTION_KEYS: [KEY],
      LOG_FORMAT: 'json',
      DATABASE_DIRECT_URL: COMPLETE.DATABASE_URL,
      EVENT_SOURCE: '/pv-onboarding',
      DOCS: true,
      CONSOLE: true,
      SHUTDOWN_DELAY_MS: 0,
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: true,
    });
  });

  it('accepts the schema that it uses', () => {
    const url = 'postgresql://user:a@localhost/pv?schema=public&application_name=search_path';
    expect(readEnvironment({ ...COMPLETE, DATABASE_URL: url }).DATABASE_URL).toBe(url);
  });

  it('accepts a comma in a password', () => {
    const url = 'postgresql://user:a,b@localhost/pv';
    expect(readEnvironment({ ...COMPLETE, DATABASE_URL: url }).DATABASE_URL).toBe(url);
  });

  it.each([
    ['PORT', '', 'PORT is blank'],
    ['PORT', '  ', 'PORT is blank'],
    ['PORT', '80.5', 'PORT must be an integer'],
    ['PORT', '0x50', 'PORT must be an integer'],
    ['PORT', '3e3', 'PORT must be an integer'],
    ['PORT', 'http', 'PORT must be an integer'],
    ['SETTLE_HOURS', '72h', 'SETTLE_HOURS must be a decimal number such as 1.5, without a unit'],
    ['PORT', ' 3000', 'PORT begins or ends with a blank'],
    ['SCS_CLIENT_SECRET', 'pasted\u200b', 'SCS_CLIENT_SECRET contains a character that nobody sees (U+200B)'],
    ['PORT', '"3000"', 'PORT is in quotes'],
    ['SCS_API_KEY', "'secret'", 'SCS_API_KEY is in quotes'],
    ['SCS_CLIENT_SECRET', 'secret\n', 'SCS_CLIENT_SECRET contains a line break'],
    ['SCS_API_KEY', 'two\r\nlines', 'SCS_API_KEY contains a line break'],
    ['SCS_API_KEY', 'schlüssel', 'SCS_API_KEY has characters that are not allowed in an HTTP header'],
    ['TRUSTED_PROXIES', 'proxy.example', 'TRUSTED_PROXIES must be addresses or networks'],
    ['TRUSTED_PROXIES', '10.0.0.0/8,', 'TRUSTED_PROXIES must be addresses or networks'],
    ['TRUSTED_PROXIES', '10.0.0.0/8x', 'TRUSTED_PROXIES must be addresses or networks'],
    ['TRUSTED_PROXIES', 'fd00::/129', 'TRUSTED_PROXIES must be addresses or networks'],
    ['TRUSTED_PROXIES', '10.0.0.0/33', 'TRUSTED_PROXIES must be addresses or networks'],
    ['TRUSTED_PROXIES', '0.0.0.0/0', 'TRUSTED_PROXIES must be addresses or networks'],
    ['HTTPS_PROXY', 'socks5://canary:1080', 'HTTPS_PROXY must be an HTTP proxy'],
    ['HTTP_PROXY', 'http://user:100%@proxy.example', 'HTTP_PROXY must be an HTTP proxy'],
    ['https_proxy', 'http://proxy.example/path', 'HTTPS_PROXY must be an HTTP proxy'],
    ['WEBHOOKS_VIA_PROXY', 'true', 'WEBHOOKS_VIA_PROXY needs HTTPS_PROXY or HTTP_PROXY'],
    ['ROLE', 'both', 'ROLE must be one of the following values: api, worker, all'],
    ['DATABASE_URL', 'mysql://localhost/pv', 'DATABASE_URL must be a URL that begins with postgresql://'],
    ['DATABASE_URL', 'postgresql://', 'DATABASE_URL must be a URL that begins with postgresql://'],
    ['DATABASE_URL', 'postgresql://user:pass/word@localhost/pv', 'DATABASE_URL cannot be parsed'],
    ['DATABASE_URL', 'postgresql://user:100%@localhost/pv', 'DATABASE_URL cannot be parsed'],
    ['DATABASE_URL', 'postgresql://u:p@one:5432,two:5432/pv', 'DATABASE_URL names several hosts'],
    ['DATABASE_URL', 'postgresql://u:p,p@one,two/pv', 'DATABASE_URL names several hosts'],
    ['DATABASE_URL', 'postgresql:///pv?host=one,two', 'DATABASE_URL names several hosts'],
    ['DATABASE_URL', 'postgresql:///pv?a=b&host=one%2ctwo', 'DATABASE_URL names several hosts'],
    [
      'DATABASE_URL',
      'postgresql://one/pv?target_session_attrs=read-write',
      'DATABASE_URL has target_session_attrs, which is not supported',
    ],
    ['DATABASE_URL', 'postgresql://u:p@db/pv?ssl=require', 'DATABASE_URL has an ssl or sslmode'],
    ['DATABASE_URL', 'postgresql://u:p@db/pv?a=b&sslmode=verify_full', 'DATABASE_URL has an ssl or sslmode'],
    ...[
      'schema=tenant',
      'a=b&currentSchema=x',
      'search_path=x',
      'options=-c%20search_path%3Dx',
      'options=-csearch_path=x,public',
    ].map((query) => ['DATABASE_URL', `postgresql://u:p@db/pv?${query}`, 'DATABASE_URL names a schema']),
    ['DATABASE_DIRECT_URL', 'localhost', 'DATABASE_DIRECT_URL must be a URL that begins with postgresql://'],
    ['DATABASE_DIRECT_URL', 'postgresql://one,two/pv', 'DATABASE_DIRECT_URL names several hosts'],
    ['DATABASE_PREPARED_STATEMENTS', '0', 'DATABASE_PREPARED_STATEMENTS must be true or false'],
    ['SCS_BASE_URL', 'scs.example', 'SCS_BASE_URL must be a URL that begins with'],
    ['SCS_BASE_URL', 'https://user:secret@scs.example', 'SCS_BASE_URL must not contain'],
    ['SCS_BASE_URL', 'https://scs.example/?a=1', 'SCS_BASE_URL must not contain'],
    [
      'SCS_BASE_URL',
      'https://scs.example/api/v1/ssa/',
      'SCS_BASE_URL must be the address before /api/v1/ssa',
    ],
    [
      'SCS_BASE_URL',
      'https://scs.example/api/v1/ssa/oauth/token',
      'SCS_BASE_URL must be the address before /api/v1/ssa',
    ],
    [
      'SCS_BASE_URL',
      'https://scs.example/gateway/api/v1',
      'SCS_BASE_URL must be the address before /api/v1/ssa',
    ],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'Bearer token', 'OTEL_EXPORTER_OTLP_HEADERS must be name=value'],
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
    ['POLL_LEASE_MS', '10000', 'POLL_LEASE_MS must be greater than SCS_TIMEOUT_MS'],
    ['POLL_MIN_INTERVAL_MS', '900001', 'POLL_MIN_INTERVAL_MS must not be greater than POLL_MAX_INTERVAL_MS'],
    ['EVENT_BROKER_URL', 'broker.example', 'EVENT_BROKER_URL must be an address such as nats://'],
    ['EVENT_BROKER_URL', 'kafka://broker.example', 'EVENT_BROKER_URL must be an address such as nats://'],
    ['EVENT_BROKER_URL', 'nats://a.example,', 'EVENT_BROKER_URL must be an address such as nats://'],
    ['EVENT_BROKER_URL', 'nats://a.example,nats://user:100%@b.example', 'EVENT_BROKER_URL cannot be parsed'],
    ['EVENT_BROKER_URL', 'nats://a.example:port', 'EVENT_BROKER_URL cannot be parsed'],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'http://user:100%@collector:4318',
      'OTEL_EXPORTER_OTLP_ENDPOINT cannot be parsed',
    ],
    ['WEBHOOK_RETRY_SCHEDULE_MS', '5000,soon', 'WEBHOOK_RETRY_SCHEDULE_MS must be whole numbers'],
    ['WEBHOOK_RETRY_SCHEDULE_MS', '5000,', 'WEBHOOK_RETRY_SCHEDULE_MS must be whole numbers'],
    ['REMINDER_SCHEDULE_HOURS', '24,soon', 'REMINDER_SCHEDULE_HOURS must be whole numbers'],
    ['REMINDER_SCHEDULE_HOURS', '24,8785', 'REMINDER_SCHEDULE_HOURS must not be greater than 8784'],
    ['REMINDER_SCHEDULE_HOURS', '1,'.repeat(10) + 1, 'REMINDER_SCHEDULE_HOURS must contain no more than 10'],
    ['WEBHOOK_RETRY_SCHEDULE_MS', '5000,-1', 'WEBHOOK_RETRY_SCHEDULE_MS must not be less than 0'],
    [
      'WEBHOOK_RETRY_SCHEDULE_MS',
      '1,'.repeat(100) + 1,
      'WEBHOOK_RETRY_SCHEDULE_MS must contain no more than 100',
    ],
    ['BRAND_NAME', 'a'.repeat(101), 'BRAND_NAME must be shorter than or equal to 100'],
    ['EVENT_SOURCE', 'a'.repeat(1_001), 'EVENT_SOURCE must be at most 1,000 characters'],
    ['ADMIN_API_KEY', 'a'.repeat(31), 'ADMIN_API_KEY must be at least 32'],
    ['TIME_ZONE', 'Europe/Amsterda', 'TIME_ZONE must be the name of a time zone'],
    ['REMINDER_QUIET_HOURS', '20:00-24:00', 'REMINDER_QUIET_HOURS must be off, or two different times'],
    ['REMINDER_QUIET_HOURS', '08:00-08:00', 'REMINDER_QUIET_HOURS must be off, or two different times'],
    ['DOCS', 'yes', 'DOCS must be true or false'],
    ['CONSOLE', 'yes', 'CONSOLE must be true or false'],
    ['CONSOLE_OIDC_GROUPS', 'operators', 'CONSOLE_OIDC_GROUPS must be groups with scopes'],
    ['CONSOLE_OIDC_GROUPS', 'operators=admin;', 'CONSOLE_OIDC_GROUPS must be groups with scopes'],
    ['WEBHOOK_ALLOW_PRIVATE_ADDRESSES', 'yes', 'WEBHOOK_ALLOW_PRIVATE_ADDRESSES must be true or false'],
    ['LOG_FORMAT', 'xml', 'LOG_FORMAT must be one of the following values: pretty, json'],
  ])('refuses %s=%j by name, and says what is expected', (name, value, expected) => {
    const others = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      ...(name.startsWith('CONSOLE_') && PROVIDER),
    };
    const problems = problemsOf({ ...others, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(expected);
  });

  it.each([
    ['PORT', 0, 65_535],
    ['METRICS_PORT', 0, 65_535],
    ['API_MAX_REQUESTS_PER_SECOND', 0, 1_000_000],
    ['DATABASE_POOL_SIZE', 2, 500],
    ['SCS_TIMEOUT_MS', 100, 120_000],
    ['SCS_MAX_CONCURRENCY', 1, 10_000],
    ['SCS_MAX_REQUESTS_PER_SECOND', 0, 1_000_000],
    ['SHUTDOWN_DELAY_MS', 0, 300_000],
    ['POLL_TICK_MS', 10, 3_600_000],
    ['POLL_MIN_INTERVAL_MS', 10, 2_147_483_647],
    ['POLL_MAX_INTERVAL_MS', 10, 2_147_483_647],
    ['POLL_BATCH_SIZE', 1, 10_000],
    ['POLL_LEASE_MS', 100, 3_600_000],
    ['SETTLE_HOURS', 0, 8_760],
    ['LATE_ONLINE_DAYS', 0, 365],
    ['WATCH_ONLINE_DAYS', 0, 365],
    ...ENVIRONMENT_NAMES.filter((name) => /^(RETENTION|CAMPAIGN_ROWS)_/.test(name)).map(
      (name) => [name, 0, 36_500] as const,
    ),
    ['INVITATION_TTL_DAYS', 1, 366],
    ['REMINDER_SCHEDULE_HOURS', 0, 8_784],
    ['CAMPAIGN_MAX_BYTES', 1_024, 10_737_418_240],
    ['STALLED_INVITATION_HOURS', 0, 8_760],
    ['STALLED_OWNER_HOURS', 0, 8_760],
    ['STALLED_INSTALLATION_HOURS', 0, 8_760],
    ['WEBHOOK_RETRY_SCHEDULE_MS', 0, 604_800_000],
  ] as const)('reads %s from %i to %i', (name, least, greatest) => {
    const faultsOf = (value: number) =>
      problemsOf({ [name]: String(value) }).filter((problem) => / (less|greater) than \d/.test(problem));
    const faults = [least - 1, least, greatest, greatest + 1].map(faultsOf);
    const fault = (limit: string) => [
      expect.stringMatching(`^(each value in )?${name} must not be ${limit}$`),
    ];
    expect(faults).toEqual([fault(`less than ${least}`), [], [], fault(`greater than ${greatest}`)]);
  });

  it.each(['WEBHOOK_ALLOW_PRIVATE_ADDRESSES', 'DOCS', 'CONSOLE'] as const)(
    '%s is false in production and true in development, unless it is set',
    (name) => {
      const read = (NODE_ENV: string, value?: string) =>
        readEnvironment({ ...COMPLETE, NODE_ENV, [name]: value })[name];
      expect([read('production'), read('production', 'true')]).toEqual([false, true]);
      expect([read('development'), read('development', 'false')]).toEqual([true, false]);
    },
  );

  it('takes the identity provider of the console whole or not at all', () => {
    expect({ ...readEnvironment({ ...COMPLETE, ...PROVIDER }) }).toMatchObject(PROVIDER);
    expect(problemsOf({ ...PROVIDER, CONSOLE_OIDC_GROUPS: undefined })).toEqual([
      'CONSOLE_OIDC_GROUPS is required with CONSOLE_OIDC_ISSUER',
    ]);
    expect(problemsOf({ CONSOLE_OIDC_GROUPS: 'leads=admin' })).toHaveLength(3);
    const production = { ...PROVIDER, NODE_ENV: 'production', CONSOLE_OIDC_ISSUER: 'http://login.example' };
    expect(namesIn(problemsOf(production))).toEqual(['CONSOLE_OIDC_ISSUER', 'PUBLIC_URL']);
  });

  it.each([
    ['production', undefined, 5_000],
    ['production', '0', 0],
    ['development', undefined, 0],
    ['development', '1000', 1_000],
  ])('in %s, with SHUTDOWN_DELAY_MS %j, a stopping process serves on for %d ms', (mode, value, delayMs) => {
    const source = { ...COMPLETE, NODE_ENV: mode, SHUTDOWN_DELAY_MS: value };
    expect(readEnvironment(source).SHUTDOWN_DELAY_MS).toBe(delayMs);
  });

  it('reports every problem at once', () => {
    const problems = problemsOf({ PORT: 'x', ROLE: 'y', POLL_LEASE_MS: '500', LOG_LEVEL: '' });
    expect(namesIn(problems).sort()).toEqual(['LOG_LEVEL', 'POLL_LEASE_MS', 'PORT', 'ROLE']);
  });

  it.each([
    ['without a collector', {}],
    [
      'if OpenTelemetry is off',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' },
    ],
  ])('ignores the variables of OpenTelemetry %s', (_, settings) => {
    const source = { ...COMPLETE, ...settings, OTEL_EXPORTER_OTLP_HEADERS: 'none' };
    expect(readEnvironment(source).OTEL_EXPORTER_OTLP_ENDPOINT).toBeUndefined();
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

  it.each<[what: string, source: Record<string, string>, expected: string | undefined]>([
    ['in capitals', { HTTPS_PROXY: 'http://proxy.example:1' }, 'http://proxy.example:1'],
    ['in lower case', { https_proxy: 'http://proxy.example:2' }, 'http://proxy.example:2'],
    ['in both', { HTTPS_PROXY: 'proxy.example:3', https_proxy: 'proxy.example:3' }, 'proxy.example:3'],
    ['as blank, which means none', { HTTPS_PROXY: '', https_proxy: ' ' }, undefined],
    ['as blank in one of both', { HTTPS_PROXY: '', https_proxy: 'proxy.example:4' }, 'proxy.example:4'],
  ])('takes an outbound proxy %s', (_, source, expected) => {
    expect(readEnvironment({ ...COMPLETE, ...source }).HTTPS_PROXY).toBe(expected);
  });

  it('refuses two different outbound proxies for one purpose', () => {
    expect(problemsOf({ NO_PROXY: 'canary.example', no_proxy: 'b.example' })).toEqual([
      'NO_PROXY and no_proxy have different values: remove one of them',
    ]);
  });

  it('takes addresses and networks of proxies', () => {
    const proxies = ['127.0.0.1', '10.0.0.0/8', '192.0.2.7/32', '::1', 'FD00::/8', '::1/128', '0.0.0.0/1'];
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

  it('requires in production every variable with a local default, and reports other problems with them', () => {
    const nothing = Object.fromEntries(LOCAL_DEFAULTS.map((name) => [name, undefined]));
    const problems = problemsOf({ ...nothing, NODE_ENV: 'production', PORT: 'x' });
    expect(namesIn(problems).sort()).toEqual([...LOCAL_DEFAULTS, 'PORT'].sort());
    expect(problems.filter((problem) => problem.includes('in production'))).toHaveLength(
      LOCAL_DEFAULTS.length,
    );
  });

  it('names the source of its events by PUBLIC_URL, unless EVENT_SOURCE is set', () => {
    const sourceOf = (more: object) => readEnvironment({ ...COMPLETE, ...more }).EVENT_SOURCE;
    const PUBLIC_URL = 'https://pv.example/pv';
    expect(sourceOf({})).toBe('/pv-onboarding');
    expect(sourceOf({ PUBLIC_URL })).toBe(PUBLIC_URL);
    expect(sourceOf({ PUBLIC_URL, EVENT_SOURCE: '/tenant-a' })).toBe('/tenant-a');
  });

  it('takes the path of PUBLIC_URL unless it is one of the service itself', () => {
    expect(readEnvironment({ ...COMPLETE, PUBLIC_URL: 'https://pv.example/tools/pv//' }).PUBLIC_URL).toBe(
      'https://pv.example/tools/pv',
    );
    for (const path of [
      '/api',
      '/console/',
      '/i/pv',
      '/docs',
      '/problems',
      '/metrics',
      '/openapi.json',
      '/health/x',
    ])
      expect(problemsOf({ PUBLIC_URL: `https://pv.example${path}` })).toEqual([
        expect.stringContaining('PUBLIC_URL must not have a path that begins with /'),
      ]);
    for (const path of ['//evil.example', '/a//b', '/a;b', '/a,b', '/$&'])
      expect(problemsOf({ PUBLIC_URL: `https://pv.example${path}` })).toEqual([
        expect.stringContaining('PUBLIC_URL must have a path of'),
      ]);
    for (const path of ['', '/', '/a%20b', '/~a/b-c_d.e', '/b%C3%BCro', '/büro', '/a"b', '/a/../b'])
      expect(problemsOf({ PUBLIC_URL: `https://pv.example${path}` })).toEqual([]);
    for (const url of ['https://pv.example/?a=1', 'https://pv.example/#a', 'https://a@pv.example'])
      expect(problemsOf({ PUBLIC_URL: url })).toEqual([
        expect.stringContaining('PUBLIC_URL must not contain'),
      ]);
    for (const url of ['pv.example', 'https://[fe80::1%25eth0]'])
      expect(problemsOf({ PUBLIC_URL: url })).toEqual([expect.stringContaining('PUBLIC_URL must be a URL')]);
    expect(problemsOf({ SCS_BASE_URL: 'https:scs.example' })).toEqual([
      expect.stringContaining('SCS_BASE_URL must be a URL'),
    ]);
    for (const url of ['https:pv.example/a/../pv', 'HTTPS://PV.example:443/pv/'])
      expect(readEnvironment({ ...COMPLETE, PUBLIC_URL: url }).PUBLIC_URL).toBe('https://pv.example/pv');
  });

  it('requires https in production, except to the loopback', () => {
    const production = { NODE_ENV: 'production' };
    for (const name of ['SCS_BASE_URL', 'PUBLIC_URL']) {
      expect(problemsOf({ ...production, [name]: 'http://scs.example' })).toEqual([
        expect.stringContaining(`${name} must begin with https:// in production`),
      ]);
      expect(problemsOf({ ...production, [name]: 'http://127.0.0.1:4010' })).toEqual([]);
      expect(problemsOf({ [name]: 'http://scs.example' })).toEqual([]);
    }
  });
});

describe('in production', () => {
  const production = { NODE_ENV: 'production' };
  const other = Buffer.alloc(32, 'another key').toString('base64');

  it.each([
    ['all zero', Buffer.alloc(32).toString('base64')],
    ['one byte repeated', Buffer.alloc(32, 0xa7).toString('base64')],
    ['a weak one after a good one', `${KEY},${Buffer.alloc(32, 'x').toString('base64')}`],
    ['the same twice', `${KEY},${other},${KEY}`],
  ])('weak ENCRYPTION_KEYS are refused together with other problems: %s', (_, keys) => {
    const problems = problemsOf({ ...production, ENCRYPTION_KEYS: keys, PORT: 'x' });
    expect(namesIn(problems)).toEqual(['PORT', 'ENCRYPTION_KEYS']);
    for (const key of keys.split(',')) expect(problems.join()).not.toContain(key);
    expect(problemsOf({ ENCRYPTION_KEYS: keys })).toEqual([]);
  });

  it('several good ENCRYPTION_KEYS are accepted', () => {
    expect(problemsOf({ ...production, ENCRYPTION_KEYS: `${KEY},${other}` })).toEqual([]);
  });

  it('NODE_TLS_REJECT_UNAUTHORIZED=0 is refused; elsewhere it causes a warning', () => {
    const source = { ...COMPLETE, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    expect(problemsOf({ ...source, ...production })).toEqual([
      expect.stringMatching(/^NODE_TLS_REJECT_UNAUTHORIZED=0 .* NODE_EXTRA_CA_CERTS$/),
    ]);
    expect(problemsOf(source)).toEqual([]);
    expect(warningsOf({ ...source, SCS_BASEURL: 'canary' })).toEqual([
      expect.stringContaining('SCS_BASEURL is not read'),
      expect.stringContaining('NODE_TLS_REJECT_UNAUTHORIZED=0'),
    ]);
    expect(problemsOf({ ...source, ...production, NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toEqual([]);
  });
});

describe('an unknown name', () => {
  it.each([
    'SCS_TOKEN_LIFETIME',
    'POLL_MIN_INTERVALL_MS',
    'WEBHOOK_SECRET',
    'SCS_CLIENT_SECRET_PATH',
    'scs_api_key',
    'ENCRYPTION_KEY',
    'RETENTION_EVENT_DAYS',
    'CONSOLE_OIDC_SECRET',
  ])('%s has our prefix and is reported', (name) => {
    expect(warningsOf({ ...COMPLETE, [name]: 'canary' })).toEqual([
      `${name} is not read: this service has no such variable`,
    ]);
  });

  it('is reported together with the variable that is missing because of it', () => {
    const read = () => readEnvironment({ ...COMPLETE, SCS_BASE_URL: undefined, SCS_BASEURL: 'canary' });
    expect(read).toThrow(/SCS_BASE_URL is required\nAlso:\n {2}- SCS_BASEURL is not read: this service has/);
    expect(read).not.toThrow('canary');
    const without = () => readEnvironment({ ...COMPLETE, SCS_BASE_URL: undefined });
    expect(without).toThrow(/SCS_BASE_URL is required/);
    expect(without).not.toThrow('Also:');
  });

  it('is not reported if it belongs to other programs', () => {
    const others = `PATH HOME HOSTNAME HOSTTYPE HOSTS PWD OLDPWD SHELL SHLVL TERM TZ LANG LC_ALL USER USERNAME LOGNAME MAIL EDITOR TMPDIR _
      PORTS ROLES MODE LOGS DEBUG CI NODE NODE_PATH NODE_OPTIONS NODE_VERSION NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED YARN_VERSION
      INIT_CWD npm_config_cache npm_config_loglevel npm_config_node_gyp npm_config_user_agent npm_execpath npm_lifecycle_event
      npm_package_name npm_package_version npm_node_execpath http_proxy https_proxy no_proxy HTTP_PROXY NO_PROXY SSL_CERT_FILE
      KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS KUBERNETES_PORT KUBERNETES_PORT_443_TCP
      KUBERNETES_PORT_443_TCP_ADDR KUBERNETES_PORT_443_TCP_PORT KUBERNETES_PORT_443_TCP_PROTO POD_NAME POD_NAMESPACE POD_IP NODE_NAME
      SANDBOX_PORT_4010_TCP DATABASE_SERVICE_HOST DATABASE_PORT_5432_TCP POSTGRES_PASSWORD POSTGRES_USER
      PGHOST PGPORT PGUSER PGPASSWORD PGSSLMODE DATABASE_HOST DATABASE_NAME DATABASE_USER TEST_DATABASE_URL SHADOW_DATABASE_URL REDIS_URL
      AWS_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_WEB_IDENTITY_TOKEN_FILE GOOGLE_APPLICATION_CREDENTIALS AZURE_CLIENT_ID
      AZURE_CLIENT_SECRET OTEL_EXPORTER_OTLP_ENDPOINT OTEL_SERVICE_NAME DD_AGENT_HOST SENTRY_DSN NEW_RELIC_LICENSE_KEY DYNO GITHUB_TOKEN
      SSH_AUTH_SOCK XDG_RUNTIME_DIR DISPLAY COLORTERM FORCE_COLOR NO_COLOR VSCODE_IPC_HOOK_CLI container
      SANDBOX_PORT SANDBOX_HOST SANDBOX_STATE_FILE SCS_CONTRACT_BASE_URL SCS_CONTRACT_EAN`;
    const source = Object.fromEntries(others.split(/\s+/).map((name) => [name, 'x']));
    expect(warningsOf({ ...COMPLETE, ...source })).toEqual([]);
  });
});

describe('.env.example', () => {
  it('lists every variable with its default', async () => {
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
