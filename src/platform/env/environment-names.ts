import 'reflect-metadata';
import { getMetadataStorage } from 'class-validator';
import { Environment } from './environment.js';

export type EnvironmentSource = Readonly<Record<string, string | undefined>>;

export const ENVIRONMENT_NAMES: readonly string[] = Object.keys(
  getMetadataStorage().groupByPropertyName(
    getMetadataStorage().getTargetValidationMetadatas(Environment, '', false, false),
  ),
);

/** Prefixes of the variables of the command line, the sandbox and the contract suite, which the service itself does not read. */
const OTHER_PREFIXES = /^(?:PV_ONBOARDING|SANDBOX|SCS_CONTRACT)_/;
/** No other program in our environment uses these prefixes. */
const OUR_PREFIXES = /^(?:SCS|POLL|WEBHOOK)_/;
/** Matches variables that Kubernetes and Docker set for other services, whatever their names. */
const SERVICE_LINK =
  /_(?:SERVICE_HOST|SERVICE_PORT\w*|PORT|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/** Returns a warning for each name that is not read but was probably meant as another variable, or has one of our prefixes. */
export function findMisspelt(source: EnvironmentSource): string[] {
  const known = ENVIRONMENT_NAMES.flatMap((name) => [name, `${name}_FILE`]);
  const isRead = (name: string) => known.includes(name) || OTHER_PREFIXES.test(name);
  return Object.keys(source)
    .filter((name) => source[name] !== undefined && !isRead(name) && !SERVICE_LINK.test(name))
    .flatMap((name) => {
      const [meant] = known
        .map((each) => ({ each, changes: changesBetween(plain(name), plain(each)) }))
        .filter(({ each, changes }) => changes <= changesAllowed(each))
        .sort((a, b) => a.changes - b.changes);
      if (meant !== undefined) return `${name} is not read: ${meant.each} was probably meant`;
      return OUR_PREFIXES.test(name) ? `${name} is not read: this service has no such variable` : [];
    });
}

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
