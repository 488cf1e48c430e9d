/** Names of ours that the service itself does not read: those of the sandbox, of the contract suite, of docker-compose.yml. */
const OTHER_NAMES = [
  'SANDBOX_ALLOWED_HOSTS',
  'SANDBOX_API_KEY',
  'SANDBOX_CLIENT_ID',
  'SANDBOX_CLIENT_SECRET',
  'SANDBOX_HOST',
  'SANDBOX_PORT',
  'SANDBOX_STATE_FILE',
  'SCS_CONTRACT_API_KEY',
  'SCS_CONTRACT_BASE_URL',
  'SCS_CONTRACT_CLIENT_ID',
  'SCS_CONTRACT_CLIENT_SECRET',
  'SCS_CONTRACT_EAN',
];

/** No other program in our environment uses these prefixes. */
const OUR_PREFIXES = /^(?:SCS|POLL|WEBHOOK)_/;
/** Kubernetes and Docker set such variables for every service nearby, whatever its name. */
const SERVICE_LINK =
  /_(?:SERVICE_HOST|SERVICE_PORT\w*|PORT|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
/** Returns how many characters may differ, by the length of our name. HOST, PORT and ROLE are one letter away from common foreign names. */
const slackOf = ({ length }: string): number =>
  length < 8 ? -1 : length < 12 ? 1 : length < 15 ? 2 : MOST_SLACK;
const MOST_SLACK = 3;

/**
 * Returns the variables that are set and not read but resemble one of `names`, each with that name; with null if only the prefix is ours.
 */
export function findMisspelt(
  set: readonly string[],
  names: readonly string[],
): readonly { readonly name: string; readonly meant: string | null }[] {
  const known = new Set([...names, ...OTHER_NAMES]);
  return set
    .filter((name) => !known.has(name) && !SERVICE_LINK.test(name))
    .map((name) => ({ name, meant: nearest(name, [...known]) }))
    .filter(({ name, meant }) => meant !== null || OUR_PREFIXES.test(name));
}

function nearest(name: string, names: readonly string[]): string | null {
  const distances = names
    .map((each) => ({ each, distance: distanceBetween(plain(name), plain(each)) }))
    .filter(({ each, distance }) => distance <= slackOf(each))
    .sort((a, b) => a.distance - b.distance);
  return distances[0]?.each ?? null;
}

/** Ignores case and separators, the most frequent mistakes. */
const plain = (name: string): string => name.toUpperCase().replace(/[^A-Z0-9]/g, '');

/** Returns how many characters must be inserted, deleted, replaced or swapped with their neighbour to turn `a` into `b`. */
function distanceBetween(a: string, b: string): number {
  // Beyond every limit in use; this keeps the cost low for a name of any length.
  if (Math.abs(a.length - b.length) > MOST_SLACK) return Infinity;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      current[j] = Math.min(
        previous[j]! + 1,
        current[j - 1]! + 1,
        replaced,
        isSwap ? before[j - 2]! + 1 : Infinity,
      );
    }
    [before, previous] = [previous, current];
  }
  return previous[b.length]!;
}
