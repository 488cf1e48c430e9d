/** The scopes of each group of the identity provider. */
export type GroupScopes<Scope extends string> = ReadonlyMap<string, readonly Scope[]>;

type Pair = readonly [group: string, scopes: readonly string[]];

/**
 * Reads `group=scope,scope;group=scope`, where the last `=` ends the group, since no scope has one, or the JSON `{"group": ["scope"]}`, which
 * takes any name. Returns null if the text is neither.
 */
function readGroups(text: string): readonly Pair[] | null {
  if (text.trimStart().startsWith('{')) return readJson(text);
  const pairs = text.split(';').map((pair): Pair => {
    const end = pair.lastIndexOf('=');
    return [
      pair.slice(0, Math.max(0, end)).trim(),
      pair
        .slice(end + 1)
        .split(',')
        .map((each) => each.trim()),
    ];
  });
  return pairs.every(isWhole) ? pairs : null;
}

function readJson(text: string): readonly Pair[] | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const pairs = Object.entries(value as Record<string, unknown>).map(([group, scopes]): Pair => [
    group,
    [scopes].flat().map((each) => (typeof each === 'string' ? each : '')),
  ]);
  return pairs.length > 0 && pairs.every(isWhole) ? pairs : null;
}

const isWhole = ([group, scopes]: Pair): boolean =>
  group !== '' && scopes.length > 0 && scopes.every((scope) => /^[a-z:]+$/.test(scope));

/** Reads the scopes of groups. If some scopes are unknown, returns their names instead. Returns null if the text has no groups. */
export function readGroupScopes<Scope extends string>(
  text: string,
  scopes: readonly Scope[],
): GroupScopes<Scope> | { readonly unknown: readonly string[] } | null {
  const isScope = (name: string): name is Scope => (scopes as readonly string[]).includes(name);
  const groups = readGroups(text);
  if (groups === null) return null;
  const unknown = groups.flatMap(([, names]) => names.filter((name) => !isScope(name)));
  if (unknown.length > 0) return { unknown };
  return new Map(groups.map(([group, names]) => [group, names.filter(isScope)]));
}

/** Returns the scopes of all these groups together, each once. */
export const scopesOfGroups = <Scope extends string>(
  groups: readonly string[],
  scopesOf: GroupScopes<Scope>,
): Scope[] => [...new Set(groups.flatMap((group) => scopesOf.get(group) ?? []))];

/** Returns the groups in the claim `groups`. Some providers send a text instead of a list if there is only one group. */
export const groupsInClaim = (claim: unknown): string[] =>
  [claim].flat().filter((group): group is string => typeof group === 'string' && group !== '');
