/** How people call the brands of inverters. */
export interface BrandNames {
  /** The brands that have a name, each with its id. */
  readonly all: readonly (readonly [id: string, name: string])[];
  /** Returns the name of a brand. Default: its id. */
  readonly nameOf: (id: string) => string;
  /** Returns the names of several brands, separated by commas, as `idsIn` reads them: the id of a brand whose name leads to another one. */
  readonly namesOf: (ids: readonly string[]) => string;
  /** Returns the brands that a person has entered, separated by commas: by their names in any case, or by their ids. */
  readonly idsIn: (text: string) => string[];
}

export function brandNamesOf(brands: readonly { readonly id: string; readonly name: string }[]): BrandNames {
  const names = new Map(brands.map(({ id, name }) => [id, name]));
  const nameOf = (id: string) => names.get(id) ?? id;
  const ids = new Map(brands.map(({ id, name }) => [name.toLowerCase(), id]));
  const idOf = (text: string) => (names.has(text) ? text : ids.get(text.toLowerCase()));
  /** A name may contain commas: the longest known text counts. */
  const idsIn = (text: string): string[] => {
    const parts = text.split(',');
    const known = (count: number) => idOf(parts.slice(0, count).join(',').trim());
    let count = parts.length;
    while (count > 1 && known(count) === undefined) count--;
    const first = known(count) ?? parts[0]!.trim();
    const others = count < parts.length ? idsIn(parts.slice(count).join(',')) : [];
    return first === '' ? others : [first, ...others];
  };
  const shownAs = (id: string) => (idOf(nameOf(id)) === id ? nameOf(id) : id);
  return { all: [...names], nameOf, namesOf: (some) => some.map(shownAs).join(', '), idsIn };
}
