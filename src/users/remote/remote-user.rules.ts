import { normaliseReference } from '../../platform/spelling.rules.js';
import type { FieldError } from '../../platform/problem/problem.js';
import { isUuid } from '../../platform/uuid.rules.js';
import { parseInstant } from '../../platform/time/instant.rules.js';
import { eanFault, readEan } from '../ean.rules.js';
import { isPlainObject } from '../metadata.rules.js';

/** A user object of the Solar Curtailment Service (interface section 2.3), with every EAN as text. */
export interface RemoteUser {
  readonly id: string;
  readonly tenantReference: string;
  readonly tenantName: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly gridLocations: readonly { readonly id: string; readonly ean: string }[];
  /** Null if the service sent no timestamp, or one outside the years 1 to 9999. */
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
}

export interface RequestedUser {
  readonly tenantReference: string;
  readonly eans: readonly string[];
}

/** Ten times what a registration may request. Each location costs rows and space in the event, so a longer list counts as an error. */
const MAX_GRID_LOCATIONS = 1_000;

/** Reads a user object and checks it against the request. A fault names the field but does not repeat the value. */
// The interface does not say which fields are required. This function requires the ids, the reference and every requested EAN.
export function readRemoteUser(
  value: unknown,
  requested: RequestedUser,
  from: 'service' | 'person',
): { readonly user: RemoteUser } | { readonly faults: readonly FieldError[] } {
  if (!isPlainObject(value)) return { faults: [{ field: 'user', message: 'must be a JSON object' }] };
  const faults: FieldError[] = [];
  const fault = (field: string, message: string) => void faults.push({ field, message });

  if (!isUuid(value.id)) fault('id', 'must be a UUID');
  if (!isSameReference(value.tenantReference, requested.tenantReference))
    fault('tenantReference', 'must be the one that was sent');
  const gridLocations = readLocations(value.gridLocations, fault);
  const missing = requested.eans.filter(
    (ean) => !gridLocations.some((location) => location.ean === ean),
  ).length;
  if (faults.length === 0 && missing > 0)
    fault('gridLocations', `must hold every EAN that was sent; ${missing} missing`);
  // An unreadable time is a fault if a person entered it. If the remote service sent it, the time becomes null.
  for (const field of ['createdAt', 'updatedAt'])
    if (from === 'person' && (value[field] ?? null) !== null && instant(value[field]) === null)
      fault(field, 'must be an ISO 8601 timestamp with Z or an offset, of the years 1 to 9999');

  if (faults.length > 0) return { faults };
  return {
    user: {
      id: (value.id as string).toLowerCase(),
      tenantReference: requested.tenantReference,
      tenantName: text(value.tenantName),
      firstName: text(value.firstName),
      lastName: text(value.lastName),
      email: text(value.email),
      gridLocations,
      createdAt: instant(value.createdAt),
      updatedAt: instant(value.updatedAt),
    },
  };
}

/** Returns whether a reference that somebody sent back is `reference`, which is stored as `normaliseReference` returns it. */
export const isSameReference = (value: unknown, reference: string): boolean =>
  typeof value === 'string' && normaliseReference(value) === reference;

function readLocations(value: unknown, fault: (field: string, message: string) => void) {
  if (!Array.isArray(value) || value.length > MAX_GRID_LOCATIONS) {
    fault('gridLocations', `must be an array of at most ${MAX_GRID_LOCATIONS} grid locations`);
    return [];
  }
  const seen = new Set<string>();
  return value.flatMap((item: unknown, index) => {
    const field = `gridLocations[${index}]`;
    if (!isPlainObject(item)) {
      fault(field, 'must be a JSON object');
      return [];
    }
    const eanMessage = eanFault(item.ean);
    if (!isUuid(item.id)) fault(`${field}.id`, 'must be a UUID');
    if (eanMessage !== undefined) fault(`${field}.ean`, eanMessage);
    if (!isUuid(item.id) || eanMessage !== undefined) return [];
    const location = { id: item.id.toLowerCase(), ean: readEan(item.ean) };
    for (const [name, text] of Object.entries(location)) {
      if (seen.has(text)) fault(`${field}.${name}`, 'must not be repeated');
      seen.add(text);
    }
    return [location];
  });
}

// Removes NUL and replaces lone surrogates, which PostgreSQL cannot store: a name must not make a registration fail.
const text = (value: unknown): string =>
  typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : '';

function instant(value: unknown): Date | null {
  const read = parseInstant(value, 'remote');
  return read.kind === 'instant' ? read.at : null;
}
