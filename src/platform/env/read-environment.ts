import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import { Environment } from './environment.js';

export type EnvironmentSource = Readonly<Record<string, string | undefined>>;

/** Placeholders for the variables that a started service or a generated key provides outside production. They are valid, but never used. */
export const STAND_INS = {
  DATABASE_URL: 'postgresql://nowhere.invalid/none',
  SCS_BASE_URL: 'https://nowhere.invalid',
  SCS_API_KEY: 'none',
  SCS_CLIENT_ID: 'none',
  SCS_CLIENT_SECRET: 'none',
  ADMIN_API_KEY: 'none'.repeat(8),
  ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
} as const satisfies Partial<Record<keyof Environment, string>>;

export const LOCAL_DEFAULTS = Object.keys(STAND_INS) as readonly (keyof typeof STAND_INS)[];

/** Lists all faults of the configuration by variable name. Contains no values, since they may be secret. */
export class ConfigurationError extends Error {
  constructor(
    readonly problems: readonly string[],
    readonly warnings: readonly string[],
  ) {
    const listOf = (title: string, lines: readonly string[]): string => [title, ...lines].join('\n  - ');
    const also = warnings.length > 0 ? listOf('\nAlso:', warnings) : '';
    super(listOf('The configuration is not valid:', problems) + also);
  }
}

/** Reads and validates the configuration; throws ConfigurationError. A blank variable is a fault: usually its value got lost. */
export function readEnvironment(source: EnvironmentSource): Environment {
  const given: Record<string, string> = {};
  const problems = new Map<string, string>();
  for (const name of ENVIRONMENT_NAMES) {
    const value = source[name];
    if (value === undefined || (name.startsWith('OTEL_') && !countsForTraces(source, value))) continue;
    const fault = faultOfText(value);
    if (fault === undefined) given[name] = value;
    else problems.set(name, `${name} ${fault}`);
  }
  const environment = plainToInstance(Environment, given, { exposeDefaultValues: true });
  for (const error of validateSync(environment)) {
    if (problems.has(error.property)) continue;
    // A value that is not a number also violates every bound; isInt is the more useful message.
    const { isInt, ...others } = error.constraints ?? {};
    const message = isInt ?? Object.values(others)[0] ?? `${error.property} is not valid`;
    problems.set(
      error.property,
      source[error.property] === undefined ? absence(error.property, environment) : message,
    );
  }
  for (const [isFault, problem] of [...contradictions(environment), ...dangers(environment, source)]) {
    const name = /^\w+/.exec(problem)![0];
    if (isFault && !problems.has(name)) problems.set(name, problem);
  }
  if (problems.size > 0) throw new ConfigurationError([...problems.values()], warningsOf(source));
  environment.DATABASE_DIRECT_URL ??= environment.DATABASE_URL;
  environment.DOCS ??= environment.NODE_ENV !== 'production';
  environment.WEBHOOK_ALLOW_PRIVATE_ADDRESSES ??= environment.NODE_ENV !== 'production';
  return Object.freeze(environment);
}

/** The names of all variables that the service reads. */
export const ENVIRONMENT_NAMES: readonly string[] = Object.keys(
  getMetadataStorage().groupByPropertyName(
    getMetadataStorage().getTargetValidationMetadatas(Environment, '', false, false),
  ),
);

/** Returns warnings about settings that are probably mistakes. Contains no values, since they may be secret. */
export function warningsOf(source: EnvironmentSource): string[] {
  const known = [...ENVIRONMENT_NAMES, ...ENVIRONMENT_NAMES.map((name) => `${name}_FILE`), ...OTHER_NAMES];
  const misspelt = Object.keys(source)
    .filter((name) => source[name] !== undefined && !known.includes(name) && !SERVICE_LINK.test(name))
    .flatMap((name) => {
      const [meant] = known
        .map((each) => ({ each, changes: changesBetween(plain(name), plain(each)) }))
        .filter(({ each, changes }) => changes <= changesAllowed(each))
        .sort((a, b) => a.changes - b.changes);
      if (meant !== undefined) return `${name} is not read: ${meant.each} was probably meant`;
      return OUR_PREFIXES.test(name) ? `${name} is not read: this service has no such variable` : [];
    });
  if (source.NODE_TLS_REJECT_UNAUTHORIZED !== '0' || source.NODE_ENV === 'production') return misspelt;
  return [...misspelt, `${UNCHECKED_TLS}; production refuses it`];
}

/** By OpenTelemetry's specification, an empty variable counts as unset. Platforms set these variables for programs that export nothing, too. */
const countsForTraces = (
  { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED }: EnvironmentSource,
  value: string,
) => Boolean(OTEL_EXPORTER_OTLP_ENDPOINT) && OTEL_SDK_DISABLED?.toLowerCase() !== 'true' && value !== '';

function absence(name: string, { NODE_ENV, SCS_BASE_URL }: Environment): string {
  if (NODE_ENV === 'production')
    return `${name} is required in production, which has no embedded or generated default`;
  // Without SCS_BASE_URL, the sandbox's credentials are used.
  return SCS_BASE_URL !== undefined && name.startsWith('SCS_')
    ? `${name} is required with SCS_BASE_URL`
    : `${name} is required`;
}

function faultOfText(value: string): string | undefined {
  if (value.trim() === '') return 'is blank: give it a value or remove it';
  if (/[\r\n\0]/.test(value)) return 'contains a line break: it must be one line';
  if (/^(["']).*\1$/.test(value)) return 'is in quotes, which would be part of the value: remove them';
  if (value !== value.trim()) return 'begins or ends with a blank';
  return undefined;
}

/** A condition and its message. The message starts with the name of the variable at fault. */
type Rule = readonly [isFault: boolean, problem: string];

const UNPARSED = 'cannot be parsed: special characters in it are written as %40 for @, %2F for /';

function contradictions(environment: Environment): Rule[] {
  const { SCS_TIMEOUT_MS, POLL_LEASE_MS, POLL_MIN_INTERVAL_MS, POLL_MAX_INTERVAL_MS } = environment;
  const { PORT, METRICS_PORT } = environment;
  const brokers = environment.EVENT_BROKER_URL?.split(',') ?? [];
  return [
    ...(['DATABASE_URL', 'DATABASE_DIRECT_URL'] as const).flatMap((name) =>
      databaseRules(name, environment[name]),
    ),
    [!brokers.every(hasReadableCredentials), `EVENT_BROKER_URL ${UNPARSED}`],
    [METRICS_PORT !== 0 && METRICS_PORT === PORT, 'METRICS_PORT must be another port than PORT'],
    // If a lease expired before its remote call ended, a second worker would read the same session.
    [POLL_LEASE_MS <= SCS_TIMEOUT_MS, 'POLL_LEASE_MS must be greater than SCS_TIMEOUT_MS'],
    [
      POLL_MIN_INTERVAL_MS > POLL_MAX_INTERVAL_MS,
      'POLL_MIN_INTERVAL_MS must not be greater than POLL_MAX_INTERVAL_MS',
    ],
  ];
}

const ONE_HOST = 'use one address that leads to the primary, also after a failover';

function databaseRules(name: string, url: string | undefined): Rule[] {
  if (url === undefined) return [];
  return [
    [
      /^[^/]*\/\/(?:[^/]*@)?(?![^/?]*@)[^/?]*,|[?&]host=[^&]*(,|%2C)/i.test(url),
      `${name} names several hosts: ${ONE_HOST}`,
    ],
    [
      /[?&]target_session_attrs=/.test(url),
      `${name} has target_session_attrs, which is not supported: ${ONE_HOST}`,
    ],
    [
      /[?&](ssl=(?!(true|1|0|no-verify)(&|$))|sslmode=(?!(disable|prefer|require|verify-ca|verify-full|no-verify)(&|$)))/.test(
        url,
      ),
      `${name} has an ssl or sslmode that is not supported: set sslmode=verify-full, or sslmode=disable`,
    ],
    [!hasReadableCredentials(url), `${name} ${UNPARSED}`],
  ];
}

const UNCHECKED_TLS =
  'NODE_TLS_REJECT_UNAUTHORIZED=0 lets anybody pose as the remote service, the database or a webhook receiver';

/** Returns the rules against settings that would expose secrets. They apply only in production. */
function dangers(environment: Environment, source: EnvironmentSource): Rule[] {
  if (environment.NODE_ENV !== 'production') return [];
  const keys = (environment.ENCRYPTION_KEYS ?? []).map((key) => Buffer.from(key, 'base64'));
  return [
    [
      sendsInClear(environment.SCS_BASE_URL),
      'SCS_BASE_URL must begin with https:// in production (credentials are sent there)',
    ],
    [
      source.NODE_TLS_REJECT_UNAUTHORIZED === '0',
      `${UNCHECKED_TLS}: remove it in production, and name your own authority in NODE_EXTRA_CA_CERTS`,
    ],
    [
      keys.some((key) => key.every((byte) => byte === key[0])),
      'ENCRYPTION_KEYS contains a key of one repeated byte, which production refuses (openssl rand -base64 32 makes a good one)',
    ],
    [
      new Set(keys.map((key) => key.toString('hex'))).size < keys.length,
      'ENCRYPTION_KEYS lists the same key twice, which production refuses',
    ],
  ];
}

/** Returns whether the credentials can be decoded: every % must start an escape. */
function hasReadableCredentials(url: string): boolean {
  try {
    const { username, password } = new URL(url);
    return decodeURIComponent(`${username}:${password}`) !== '';
  } catch {
    return false;
  }
}

/** Returns whether credentials would be sent unencrypted. Traffic on the loopback never leaves the machine. */
function sendsInClear(baseUrl: string | undefined): boolean {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return false;
  const { protocol, hostname } = new URL(baseUrl);
  return protocol !== 'https:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/** Variables of the commands that call the API of a service. */
export const COMMAND_LINE_NAMES: readonly string[] = ['PV_ONBOARDING_URL', 'PV_ONBOARDING_API_KEY'];

/** Variables of the command line, the sandbox and the contract suite, which the service itself does not read. */
const OTHER_NAMES = [
  ...COMMAND_LINE_NAMES.flatMap((name) => [name, `${name}_FILE`]),
  ...[
    'ALLOWED_HOSTS',
    'API_KEY',
    'CLIENT_ID',
    'CLIENT_SECRET',
    'HOST',
    'PORT',
    'PUBLIC_URL',
    'STATE_FILE',
  ].map((name) => `SANDBOX_${name}`),
  ...['API_KEY', 'BASE_URL', 'CLIENT_ID', 'CLIENT_SECRET', 'EAN'].map((name) => `SCS_CONTRACT_${name}`),
];

/** No other program in our environment uses these prefixes. */
const OUR_PREFIXES = /^(?:SCS|POLL|WEBHOOK)_/;
/** Matches variables that Kubernetes and Docker set for other services, whatever their names. */
const SERVICE_LINK =
  /_(?:SERVICE_HOST|SERVICE_PORT\w*|PORT|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
/** Returns how many changes a misspelling of this name may have. -1: no check, because short names such as HOST resemble common names. */
const changesAllowed = (name: string): number => {
  const { length } = name.replace(/_FILE$/, '');
  return length < 8 ? -1 : length < 12 ? 1 : length < 15 ? 2 : 3;
};

/** Removes differences in case and separators, the most frequent mistakes. */
const plain = (name: string): string => name.toUpperCase().replace(/[^A-Z0-9]/g, '');

/** Returns how many insertions, deletions, replacements and swaps of neighbours turn `a` into `b`. */
function changesBetween(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = last[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? before[column - 2]! + 1 : Infinity;
      current.push(Math.min(last[column]! + 1, current[column - 1]! + 1, replaced, swapped));
    }
    [before, last] = [last, current];
  }
  return last[b.length]!;
}
