import { texts } from '../texts.js';
/** The ids of a user at the provider, as a person enters them. */
export interface ConfirmedIds {
  readonly user: string;
  /** The id of each grid location, by its EAN. */
  readonly locations: Readonly<Record<string, string>>;
}

export interface Requested {
  readonly tenantReference: string;
  readonly gridLocations: readonly { readonly ean: string }[];
}

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi;
const IS_UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const EAN = /(?<!\d)\d{18}(?!\d)/g;

/** Returns what is wrong with an id, in words; null if nothing is, or if nothing is entered yet. */
export function idFault(id: string, others: readonly string[]): string | null {
  if (id === '') return null;
  if (!IS_UUID.test(id)) return texts.registrations.noId;
  return others.some((other) => other.toLowerCase() === id.toLowerCase())
    ? texts.registrations.idTwice
    : null;
}

export const isComplete = ({ user, locations }: ConfirmedIds): boolean => {
  const ids = [user, ...Object.values(locations)];
  return ids.every(
    (id, at) =>
      id !== '' &&
      idFault(
        id,
        ids.filter((_, other) => other !== at),
      ) === null,
  );
};

export type Pasted = { readonly ids: ConfirmedIds } | { readonly fault: string };

/** Reads the ids from the user object of the provider, or from any text in which the id of a location stands beside its EAN. */
export function readPasted(text: string, requested: Requested): Pasted {
  const object = objectIn(text);
  const reference = object?.tenantReference;
  if (typeof reference === 'string' && reference !== requested.tenantReference)
    return { fault: texts.registrations.otherCustomer };
  const eans = requested.gridLocations.map(({ ean }) => ean);
  const found = object === null ? idsIn(text) : idsOf(object);
  const foreign = found.eans.find((ean) => !eans.includes(ean));
  if (foreign !== undefined) return { fault: texts.registrations.otherEan(foreign) };
  if (found.user === '' && Object.keys(found.locations).length === 0)
    return { fault: texts.registrations.noIdInText };
  const locations = Object.fromEntries(eans.map((ean) => [ean, found.locations[ean] ?? '']));
  return { ids: { user: found.user, locations } };
}

interface Found extends ConfirmedIds {
  readonly eans: readonly string[];
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    // An EAN that is a number would lose its last digits.
    const value: unknown = JSON.parse(text.replace(/(?<![\d".])\d{16,}(?![\d".])/g, '"$&"'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

function idsOf({ id, gridLocations }: Record<string, unknown>): Found {
  const list = Array.isArray(gridLocations) ? (gridLocations as Record<string, unknown>[]) : [];
  const pairs = list.map((each) => [textOf(each?.ean), textOf(each?.id)] as const);
  return { user: textOf(id), locations: Object.fromEntries(pairs), eans: pairs.map(([ean]) => ean) };
}

/** An id in the same line as an EAN, or in the next one, is of its location; the first other id is that of the user. */
function idsIn(text: string): Found {
  const locations: Record<string, string> = {};
  const eans: string[] = [];
  let user = '';
  let open: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [ean] = line.match(EAN) ?? [];
    const [id, second] = line.replace(EAN, ' ').match(UUID) ?? [];
    if (ean !== undefined) eans.push((open = ean));
    if (id === undefined) continue;
    if (open !== undefined) {
      locations[open] = second ?? id;
      if (second !== undefined && user === '') user = id;
      open = undefined;
    } else if (user === '') user = id;
  }
  return { user, locations, eans };
}
