import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { brandFileProblems } from './brand-files.js';
import { allMissingForOwners } from './owner-settings.rules.js';
import { ConfigurationError } from './configuration-error.js';
import { Environment } from './environment.js';
import { readPassThrough } from './pass-through.rules.js';
import type { FilesRead } from './environment-files.js';
import { invisibleFault } from '../spelling.rules.js';
import { isLoopback, OWN_PATHS, pathPrefixOf } from '../http/origins.rules.js';
import { OWN_CONNECTIONS, readTlsFiles, tlsPathsOf, type TlsPaths } from '../http-client/tls-files.js';
import { ENVIRONMENT_NAMES, findUnread, type EnvironmentSource } from './environment-names.js';

/** Placeholders for the variables that `local/` provides outside production. They are valid, but never used. */
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

/** Throws ConfigurationError, which also lists the problems `ofFiles`. A blank variable is a fault: usually its value got lost. */
export function readEnvironment(source: EnvironmentSource, ofFiles?: FilesRead['problems']): Environment {
  const given: Record<string, string> = {};
  const problems = new Map(ofFiles);
  for (const name of ENVIRONMENT_NAMES) {
    const value = isOfProxies(name) ? proxySetting(source, name, problems) : source[name];
    if (value === undefined || (name.startsWith('OTEL_') && !countsForTraces(source, value))) continue;
    const fault = faultOfText(value);
    if (fault === undefined) given[name] = value;
    else problems.set(name, `${name} ${fault}`);
  }
  const environment = plainToInstance(Environment, given, { exposeDefaultValues: true });
  for (const error of validateSync(environment)) {
    if (problems.has(error.property)) continue;
    // A value that is not a number also violates every bound, of which the message would be misleading.
    const { isInt, isNumber, ...others } = error.constraints ?? {};
    const message = isInt ?? isNumber ?? Object.values(others)[0] ?? `${error.property} is not valid`;
    problems.set(
      error.property,
      given[error.property] === undefined ? absence(error.property, environment) : message,
    );
  }
  for (const problem of [...contradictions(environment), ...dangers(environment, source)]) {
    const name = /^\w+/.exec(problem)![0];
    if (!problems.has(name)) problems.set(name, problem);
  }
  if (problems.size > 0) throw new ConfigurationError([...problems.values()], warningsOf(source));
  environment.DATABASE_DIRECT_URL ??= environment.DATABASE_URL;
  environment.EVENT_SOURCE ??= environment.PUBLIC_URL ?? '/pv-onboarding';
  environment.DOCS ??= environment.NODE_ENV !== 'production';
  environment.CONSOLE ??= environment.NODE_ENV !== 'production';
  environment.SHUTDOWN_DELAY_MS ??= environment.NODE_ENV === 'production' ? 5_000 : 0;
  environment.WEBHOOK_ALLOW_PRIVATE_ADDRESSES ??= environment.NODE_ENV !== 'production';
  return Object.freeze(environment);
}

/** Returns warnings about settings that are probably mistakes. Contains no values, since they may be secret. */
export function warningsOf(source: EnvironmentSource): string[] {
  const unread = [...findUnread(source), ...allMissingForOwners(source)];
  if (source.NODE_TLS_REJECT_UNAUTHORIZED !== '0' || source.NODE_ENV === 'production') return unread;
  return [...unread, `${UNCHECKED_TLS}; production refuses it`];
}

/** Returns whether to read a variable of OpenTelemetry: only if traces are exported and it is not empty. Platforms set it everywhere. */
const countsForTraces = (
  { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED }: EnvironmentSource,
  value: string,
) => Boolean(OTEL_EXPORTER_OTLP_ENDPOINT) && OTEL_SDK_DISABLED?.toLowerCase() !== 'true' && value !== '';

const PROXY_NAMES: readonly string[] = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];
const isOfProxies = (name: string): boolean => PROXY_NAMES.includes(name);

/** Returns a setting of the proxies, in capitals or in lower case. A blank value means none, as it does for other programs. */
function proxySetting(source: EnvironmentSource, name: string, problems: Map<string, string>) {
  const values = [source[name], source[name.toLowerCase()]].filter((value) => (value ?? '').trim() !== '');
  if (new Set(values).size > 1)
    problems.set(name, `${name} and ${name.toLowerCase()} have different values: remove one of them`);
  return values[0];
}

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
  return invisibleFault(value);
}

const UNPARSED = 'cannot be parsed: special characters in it are written as %40 for @, %2F for /';
const ONE_HOST = 'use one address that leads to the primary, also after a failover';
const UNCHECKED_TLS =
  'NODE_TLS_REJECT_UNAUTHORIZED=0 lets anybody pose as the remote service, the database or a webhook receiver';

const OIDC_NAMES = [
  'CONSOLE_OIDC_ISSUER',
  'CONSOLE_OIDC_CLIENT_ID',
  'CONSOLE_OIDC_CLIENT_SECRET',
  'CONSOLE_OIDC_GROUPS',
] as const;

/** Yields the problems that concern several variables or parts of a URL. Each starts with the name of the variable at fault. */
function* contradictions(environment: Environment): Generator<string> {
  const { SCS_TIMEOUT_MS, POLL_LEASE_MS, POLL_MIN_INTERVAL_MS, POLL_MAX_INTERVAL_MS } = environment;
  const { PORT, METRICS_PORT, EVENT_BROKER_URL } = environment;
  for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL'] as const) {
    const fault = databaseFault(environment[name] ?? 'postgresql://none');
    if (fault !== undefined) yield `${name} ${fault}`;
  }
  if (/\/api\/v1(?:\/ssa(?:\/.*)?|\/*)$/i.test(environment.SCS_BASE_URL ?? ''))
    yield 'SCS_BASE_URL must be the address before /api/v1/ssa, which each request adds';
  if (EVENT_BROKER_URL?.split(',').every(hasReadableCredentials) === false)
    yield `EVENT_BROKER_URL ${UNPARSED}`;
  if (!hasReadableCredentials(environment.OTEL_EXPORTER_OTLP_ENDPOINT ?? 'http://none'))
    yield `OTEL_EXPORTER_OTLP_ENDPOINT ${UNPARSED}`;
  if (environment.WEBHOOKS_VIA_PROXY && !(environment.HTTPS_PROXY ?? environment.HTTP_PROXY))
    yield 'WEBHOOKS_VIA_PROXY needs HTTPS_PROXY or HTTP_PROXY';
  const passed = readPassThrough(environment.SCS_PASS_THROUGH ?? 'GET none');
  if (typeof passed === 'string') yield `SCS_PASS_THROUGH ${passed}`;
  for (const of of OWN_CONNECTIONS) yield* tlsFaults(tlsPathsOf(environment, of));
  yield* brandFileProblems(environment);
  const prefix = pathPrefixOf(environment.PUBLIC_URL);
  const [, first = ''] = prefix.split('/');
  if (OWN_PATHS.includes(first))
    yield `PUBLIC_URL must not have a path that begins with /${first}, which is a path of the service itself`;
  // A browser takes // in a redirect for another host, and ; in a cookie for the end of its path.
  if (!/^(?:\/[\w.~%-]+)*$/.test(prefix))
    yield 'PUBLIC_URL must have a path of letters, digits and -._~% between single slashes, or none';
  const ofProvider = OIDC_NAMES.filter((name) => environment[name] !== undefined);
  for (const name of ofProvider.length > 0 ? OIDC_NAMES : [])
    if (environment[name] === undefined) yield `${name} is required with ${ofProvider[0]}`;
  if (METRICS_PORT !== 0 && METRICS_PORT === PORT) yield 'METRICS_PORT must be another port than PORT';
  // If a lease expired before its remote call ended, a second worker would read the same session.
  if (POLL_LEASE_MS <= SCS_TIMEOUT_MS) yield 'POLL_LEASE_MS must be greater than SCS_TIMEOUT_MS';
  if (POLL_MIN_INTERVAL_MS > POLL_MAX_INTERVAL_MS)
    yield 'POLL_MIN_INTERVAL_MS must not be greater than POLL_MAX_INTERVAL_MS';
}

function* tlsFaults(paths: TlsPaths): Generator<string> {
  const { names, cert, key } = paths;
  if (cert === undefined && key !== undefined) yield `${names.cert} is required with ${names.key}`;
  else if (cert !== undefined && key === undefined) yield `${names.key} is required with ${names.cert}`;
  else
    try {
      readTlsFiles(paths);
    } catch (error) {
      yield (error as Error).message;
    }
}

function databaseFault(url: string): string | undefined {
  const severalHosts = /^[^/]*\/\/(?:[^/]*@)?[^/?@,]*,[^/?@]*(?:[/?]|$)|[?&]host=[^?&]*(,|%2C)/i;
  const unsupportedTls =
    /[?&](ssl=(?!(true|1|0|no-verify)(&|$))|sslmode=(?!(disable|prefer|require|verify-ca|verify-full|no-verify)(&|$)))/;
  if (severalHosts.test(url)) return `names several hosts: ${ONE_HOST}`;
  if (/[?&]target_session_attrs=/.test(url))
    return `has target_session_attrs, which is not supported: ${ONE_HOST}`;
  // Statements name the tables of `public`, so two deployments in one database would work on the same tables.
  if (/[?&](?:schema|currentSchema|search_path)=(?!public(?:&|$))|[?&]options=[^&]*search_path/i.test(url))
    return 'names a schema, but the tables are always in `public`: give each deployment a database of its own';
  if (unsupportedTls.test(url))
    return 'has an ssl or sslmode that is not supported: set sslmode=verify-full, or sslmode=disable';
  return hasReadableCredentials(url) ? undefined : UNPARSED;
}

/** Yields the settings that would expose secrets in production. */
function* dangers(environment: Environment, source: EnvironmentSource): Generator<string> {
  if (environment.NODE_ENV !== 'production') return;
  const keys = (environment.ENCRYPTION_KEYS ?? []).map((key) => Buffer.from(key, 'base64'));
  if (sendsInClear(environment.SCS_BASE_URL))
    yield 'SCS_BASE_URL must begin with https:// in production (credentials are sent there)';
  if (sendsInClear(environment.CONSOLE_OIDC_ISSUER))
    yield 'CONSOLE_OIDC_ISSUER must begin with https:// in production (the client secret is sent there)';
  if (environment.CONSOLE_OIDC_ISSUER !== undefined && environment.PUBLIC_URL === undefined)
    yield 'PUBLIC_URL is required with CONSOLE_OIDC_ISSUER in production (the identity provider leads back to it)';
  if (sendsInClear(environment.PUBLIC_URL))
    yield 'PUBLIC_URL must begin with https:// in production (the links of owners are credentials)';
  if (source.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    yield `${UNCHECKED_TLS}: remove it in production, and name your own authority in NODE_EXTRA_CA_CERTS`;
  if (keys.some((key) => key.every((byte) => byte === key[0])))
    yield 'ENCRYPTION_KEYS contains a key of one repeated byte, which production refuses (openssl rand -base64 32 makes a good one)';
  if (new Set(keys.map((key) => key.toString('hex'))).size < keys.length)
    yield 'ENCRYPTION_KEYS lists the same key twice, which production refuses';
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
  return protocol !== 'https:' && !isLoopback(hostname);
}
