/** How people call the brands of inverters. */
export interface BrandNames {
  /** The brands that have a name, each with its id. */
  readonly all: readonly (readonly [id: string, name: string])[];
  /** Returns the name of a brand. Default: its id. */
  readonly nameOf: (id: string) => string;
  /** Returns the names of several brands, separated by commas. */
  readonly namesOf: (ids: readonly string[]) => string;
  /** Returns the brands that a person has entered, separated by commas: by their names in any case, or by their ids. */
  readonly idsIn: (text: string) => string[];
}

export function brandNamesOf(brands: readonly { readonly id: string; readonly name: string }[]): BrandNames {
  const names = new Map(brands.map(({ id, name }) => [id, name]));
  const nameOf = (id: string) => names.get(id) ?? id;
  const ids = new Map(brands.map(({ id, name }) => [name.toLowerCase(), id]));
  return {
    all: [...names],
    nameOf,
    namesOf: (some) => some.map(nameOf).join(', '),
    idsIn: (text) =>
      text
        .split(',')
        .map((each) => each.trim())
        .filter(Boolean)
        .map((each) => ids.get(each.toLowerCase()) ?? each),
  };
}
