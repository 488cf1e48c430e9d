/** The scopes of each group of the identity provider. */
export type GroupScopes<Scope extends string> = ReadonlyMap<string, readonly Scope[]>;

/** Reads `group=scope,scope;group=scope`. If some scopes are unknown, returns their names instead. */
export function readGroupScopes<Scope extends string>(
  text: string,
  scopes: readonly Scope[],
): GroupScopes<Scope> | { readonly unknown: readonly string[] } {
  const isScope = (name: string): name is Scope => (scopes as readonly string[]).includes(name);
  const groups = text.split(';').map((pair) => {
    const [group = '', names = ''] = pair.split('=');
    return { group: group.trim(), names: names.split(',') };
  });
  const unknown = groups.flatMap(({ names }) => names.filter((name) => !isScope(name)));
  if (unknown.length > 0) return { unknown };
  return new Map(groups.map(({ group, names }) => [group, names.filter(isScope)]));
}

/** Returns the scopes of all these groups together, each once. */
export const scopesOfGroups = <Scope extends string>(
  groups: readonly string[],
  scopesOf: GroupScopes<Scope>,
): Scope[] => [...new Set(groups.flatMap((group) => scopesOf.get(group) ?? []))];

/** Returns the groups in the claim `groups`. Some providers send a text instead of a list if there is only one group. */
export const groupsInClaim = (claim: unknown): string[] =>
  [claim].flat().filter((group) => typeof group === 'string');
