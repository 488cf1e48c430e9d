import 'reflect-metadata';
import { getMetadataStorage } from 'class-validator';
import { Environment } from './environment.js';

export type EnvironmentSource = Readonly<Record<string, string | undefined>>;

export const ENVIRONMENT_NAMES: readonly string[] = Object.keys(
  getMetadataStorage().groupByPropertyName(
    getMetadataStorage().getTargetValidationMetadatas(Environment, '', false, false),
  ),
);

/** No other program in our environment uses these prefixes. The contract suite reads the variables with SCS_CONTRACT. */
const OUR_PREFIXES = /^(?:SCS(?!_CONTRACT)|POLL|WEBHOOK|RETENTION|ENCRYPTION|CONSOLE_OIDC)_/i;

/** Returns a warning for each variable that begins with one of our prefixes and is not read. */
export function findUnread(source: EnvironmentSource): string[] {
  const known = ENVIRONMENT_NAMES.flatMap((name) => [name, `${name}_FILE`]);
  return Object.keys(source)
    .filter((name) => source[name] !== undefined && !known.includes(name))
    .filter((name) => OUR_PREFIXES.test(name))
    .map((name) => `${name} is not read: this service has no such variable`);
}
