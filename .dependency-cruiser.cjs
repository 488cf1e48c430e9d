// The rooms of src; each may import only the rooms that CORE_ROOMS and ROOMS name.

const GENERATED = '^src/platform/database/generated';
/** Files of pure functions. They may import types, and each other. */
const RULES = '[.]rules[.]ts$';

/** The core, each room with the rooms it may import. It knows no feature. */
const CORE_ROOMS = {
  platform: [],
  access: ['platform'],
  events: ['platform', 'access'],
  stalls: ['platform', 'access', 'events'],
  remote: ['platform', 'events'],
  auth: ['platform', 'access', 'events', 'remote'],
  users: ['platform', 'access', 'events', 'stalls', 'remote', 'auth'],
  onboarding: ['platform', 'access', 'events', 'stalls', 'remote', 'auth', 'users'],
};
const CORE = Object.keys(CORE_ROOMS);

const ROOMS = {
  ...CORE_ROOMS,
  idempotency: ['platform', 'access'],
  drift: ['platform', 'events', 'remote'],
  starts: ['platform', 'access', 'stalls', 'onboarding'],
  brands: ['platform', 'onboarding'],
  inverters: ['platform', 'access', 'stalls', 'onboarding'],
  timeline: ['platform', 'access', 'onboarding'],
  feed: ['platform', 'access', 'events'],
  delivery: ['platform', 'events'],
  handlers: ['platform', 'events', 'delivery'],
  webhooks: ['platform', 'access', 'idempotency', 'events', 'stalls', 'delivery'],
  broker: ['platform', 'events', 'feed'],
  invitations: [...CORE, 'brands'],
  customers: [...CORE, 'starts', 'brands', 'invitations'],
  campaigns: [...CORE, 'idempotency', 'invitations', 'spreadsheet'],
  spreadsheet: [],
  'api-keys': ['platform', 'access', 'idempotency'],
  'audit-log': ['platform', 'access'],
  stalled: ['platform', 'access', 'stalls'],
  decisions: ['platform', 'access', 'stalls', 'users'],
  bulk: ['platform', 'access', 'idempotency'],
  'console-access': ['platform', 'access', 'idempotency'],
  status: [...CORE, 'brands', 'invitations', 'campaigns'],
  privacy: [...CORE, 'idempotency', 'invitations', 'campaigns', 'delivery', 'webhooks', 'bulk'],
  'pass-through': ['platform', 'access', 'remote', 'auth'],
  local: ['platform'],
};

const layer = (name, allowed) => ({
  name: `${name}-imports`,
  comment: `${name} may import ${allowed.join(', ') || 'nothing of ours but itself'}`,
  severity: 'error',
  from: { path: `^src/${name}/`, pathNot: '[.]spec[.]ts$' },
  to: { path: '^src/', pathNot: [`^src/${name}/`, ...allowed.map((other) => `^src/${other}/`)] },
});

module.exports = {
  forbidden: [
    ...Object.entries(ROOMS).map(([name, allowed]) => layer(name, allowed)),
    {
      name: 'the-sandbox-stands-alone',
      comment: 'Shared code would make the client and its fake wrong together; they meet over HTTP alone.',
      severity: 'error',
      from: { path: '^sandbox/' },
      to: { path: '^(src|test|bench|scripts|clients)/', pathNot: '^test/setup/' },
    },
    {
      name: 'nobody-imports-sandbox',
      comment: 'Shared code would make the client and its fake wrong together; they meet over HTTP alone.',
      severity: 'error',
      from: { pathNot: ['^sandbox/', '^test/'] },
      to: { path: '^sandbox/' },
    },
    {
      name: 'clients-stand-alone',
      comment: 'A client is a package of its own.',
      severity: 'error',
      from: { path: '^clients/' },
      to: { path: '^(src|test|bench|scripts)/' },
    },
    {
      name: 'only-the-command-line-is-a-client',
      comment: 'The service does not call its own API.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli/' },
      to: { path: '^clients/' },
    },
    {
      name: 'the-console-is-a-client',
      comment:
        'What the console shows and does, every client of the API can. It reads workbooks as the command line does, and finds EANs as the service does.',
      severity: 'error',
      from: { path: '^console/' },
      to: {
        path: '^(src|test|bench|scripts)/',
        pathNot: '^src/(spreadsheet/|platform/ean-digits[.]rules[.]ts$)',
      },
    },
    {
      name: 'nobody-imports-the-console',
      severity: 'error',
      from: { pathNot: '^console/' },
      to: { path: '^console/' },
    },
    {
      name: 'rules-import-types-only',
      comment: 'A decision that reads a clock, a database or a socket cannot be replayed.',
      severity: 'error',
      from: { path: RULES },
      // The JSON codec and the time zones are exceptions, because they are pure.
      to: {
        pathNot: [RULES, '^src/platform/json/lossless[.]ts$', '^node_modules/luxon/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'only-stores-know-sql',
      comment: 'Only *.store.ts, *.sql.ts and the database itself import Prisma or pg.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: ['[.](store|sql|spec)[.]ts$', '^src/platform/(database|jobs)/', '^sandbox/'],
      },
      to: { path: [GENERATED, '^node_modules/(pg|pg-pool|@prisma)/'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'open-telemetry-is-loaded-on-demand',
      comment:
        'Without OTEL_EXPORTER_OTLP_ENDPOINT, nothing of it is loaded; the rest traces through tracing.ts.',
      severity: 'error',
      from: { pathNot: '^src/platform/tracing/open-telemetry[.]ts$' },
      to: {
        path: ['^src/platform/tracing/open-telemetry[.]ts$', '^node_modules/@opentelemetry/'],
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'no-cycles',
      comment: 'Files that need each other, be it for types alone, cannot be read one after the other.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-development-packages',
      comment: 'What the service imports is installed where only `dependencies` are.',
      severity: 'error',
      from: { path: '^src/', pathNot: '[.]spec[.]ts$' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
    { name: 'resolvable', severity: 'error', from: { pathNot: GENERATED }, to: { couldNotResolve: true } },
    {
      name: 'production-imports-no-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '[.](?:spec|example)[.]ts$' },
      to: { path: '^test/|[.](?:spec|example)[.]ts$' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^dist/', GENERATED] },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
