import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { Environment } from './environment.js';
import { findMisspelt } from './misspelt.js';
import { weaknessOf } from './weak-keys.js';

export type EnvironmentSource = Readonly<Record<string, string | undefined>>;

/** Variables with an embedded or generated default outside production. */
export const LOCAL_DEFAULTS = [
  'DATABASE_URL',
  'SCS_BASE_URL',
  'SCS_API_KEY',
  'SCS_CLIENT_ID',
  'SCS_CLIENT_SECRET',
  'ADMIN_API_KEY',
  'ENCRYPTION_KEYS',
] as const satisfies readonly (keyof Environment)[];

/** Lists all faults of the configuration by name. It repeats no value, since that may be a secret. */
export class ConfigurationError extends Error {
  constructor(
    readonly problems: readonly string[],
    readonly warnings: readonly string[],
  ) {
    const listOf = (lines: readonly string[]): string => lines.map((line) => `\n  - ${line}`).join('');
    super(
      `The configuration is not valid:${listOf(problems)}${warnings.length > 0 ? `\nAlso:${listOf(warnings)}` : ''}`,
    );
  }
}

/**
 * Reads and validates the configuration; throws ConfigurationError. A blank variable is a fault: it is nearly always a value that got lost.
 */
export function readEnvironment(source: EnvironmentSource): Environment {
  const given: Record<string, string> = {};
  const problems = new Map<string, string>();
  for (const name of ENVIRONMENT_NAMES) {
    const value = source[name];
    if (value === undefined) continue;
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
  for (const [name, problem] of [...contradictions(environment), ...dangers(environment, source)])
    if (!problems.has(name)) problems.set(name, problem);
  if (problems.size > 0) throw new ConfigurationError([...problems.values()], warningsOf(source));
  environment.DOCS ??= environment.NODE_ENV !== 'production';
  environment.WEBHOOK_ALLOW_PRIVATE_ADDRESSES ??= environment.NODE_ENV !== 'production';
  return Object.freeze(environment);
}

/** All names that are read; other variables are not ours. */
export const ENVIRONMENT_NAMES: readonly string[] = [
  ...Object.keys(new Environment()),
  'PUBLIC_URL',
  'DOCS',
  'WEBHOOK_ALLOW_PRIVATE_ADDRESSES',
  'TRUSTED_PROXIES',
  'EVENT_BROKER_URL',
  ...LOCAL_DEFAULTS,
].filter((name, index, all) => all.indexOf(name) === index);

/** Returns warnings: settings with which the service starts but which are hardly intended. They name variables and repeat no value. */
export function warningsOf(source: EnvironmentSource): string[] {
  const set = Object.keys(source).filter((name) => source[name] !== undefined);
  const misspelt = findMisspelt(set, ENVIRONMENT_NAMES).map(({ name, meant }) =>
    meant === null
      ? `${name} is not read: this service has no such variable`
      : `${name} is not read: ${meant} was probably meant`,
  );
  return source.NODE_TLS_REJECT_UNAUTHORIZED === '0' && source.NODE_ENV !== 'production'
    ? [...misspelt, `${UNCHECKED_TLS}; production refuses it`]
    : misspelt;
}

function absence(name: string, { NODE_ENV, SCS_BASE_URL }: Environment): string {
  if (NODE_ENV === 'production')
    return `${name} is required in production, where nothing embedded or generated stands in for it`;
  // Without SCS_BASE_URL the credentials are the sandbox's.
  return SCS_BASE_URL !== undefined && name.startsWith('SCS_')
    ? `${name} is required with SCS_BASE_URL`
    : `${name} is required`;
}

function faultOfText(value: string): string | undefined {
  if (value.trim() === '') return 'is blank: give it a value or remove it';
  if (/[\r\n\0]/.test(value)) return 'holds a line break: it must be one line';
  if (/^(["']).*\1$/.test(value)) return 'is in quotes, which are taken as part of the value: remove them';
  if (value !== value.trim()) return 'begins or ends with a blank';
  return undefined;
}

function contradictions(environment: Environment): [string, string][] {
  const found: [string, string][] = [];
  if (!URL.canParse(environment.DATABASE_URL ?? '')) {
    found.push([
      'DATABASE_URL',
      'DATABASE_URL cannot be parsed: special characters in it are written as %40 for @, %2F for /',
    ]);
  }
  if (!(environment.EVENT_BROKER_URL?.split(',') ?? []).every(hasReadableCredentials)) {
    found.push([
      'EVENT_BROKER_URL',
      'EVENT_BROKER_URL cannot be parsed: special characters in it are written as %40 for @, %2F for /',
    ]);
  }
  const { SCS_TIMEOUT_MS, POLL_LEASE_MS, POLL_MIN_INTERVAL_MS, POLL_MAX_INTERVAL_MS } = environment;
  // A lease that ends before the call it covers would let a second worker read the same session.
  if (POLL_LEASE_MS <= SCS_TIMEOUT_MS)
    found.push(['POLL_LEASE_MS', 'POLL_LEASE_MS must be greater than SCS_TIMEOUT_MS']);
  if (POLL_MIN_INTERVAL_MS > POLL_MAX_INTERVAL_MS) {
    found.push([
      'POLL_MIN_INTERVAL_MS',
      'POLL_MIN_INTERVAL_MS must not be greater than POLL_MAX_INTERVAL_MS',
    ]);
  }
  return found;
}

const UNCHECKED_TLS =
  'NODE_TLS_REJECT_UNAUTHORIZED=0 lets anybody pose as the remote service, the database or a webhook receiver';

/** Returns the settings that would expose secrets; production refuses them. */
function dangers(environment: Environment, source: EnvironmentSource): [string, string][] {
  if (environment.NODE_ENV !== 'production') return [];
  const found: [string, string][] = [];
  if (sendsInClear(environment.SCS_BASE_URL)) {
    found.push([
      'SCS_BASE_URL',
      'SCS_BASE_URL must begin with https:// in production (credentials are sent there)',
    ]);
  }
  if (source.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    found.push([
      'NODE_TLS_REJECT_UNAUTHORIZED',
      `${UNCHECKED_TLS}: remove it in production, and name your own authority in NODE_EXTRA_CA_CERTS`,
    ]);
  }
  const weakness = weaknessOf(environment.ENCRYPTION_KEYS ?? []);
  if (weakness !== undefined)
    found.push(['ENCRYPTION_KEYS', `ENCRYPTION_KEYS ${weakness}, which production refuses`]);
  return found;
}

/** Returns whether the credentials can be decoded; a % that does not start an escape cannot. */
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
