import type { RegistrationRequest } from '../../users/registration/registration.rules.js';
import type { Metadata } from '../../users/metadata.rules.js';

/** The problem of a row whose registration has ended without a user, by its status. %s is why the registration was rejected. */
export const NOT_REGISTERED = {
  rejected: 'Not registered: %s',
  discarded: 'Not registered: a person gave it up',
  uncertain: 'Nobody knows whether it was registered: a person must decide about its registration',
};

export interface TakenRow {
  readonly line: number;
  readonly tenantReference: string;
  readonly ean: string;
  readonly metadata: Metadata;
}

/** Returns one registration per reference, with the EANs of all its rows and the metadata of its first row. */
export function requestsOf(rows: readonly TakenRow[]): RegistrationRequest[] {
  const requests = new Map<string, { tenantReference: string; eans: string[]; metadata: Metadata }>();
  for (const { tenantReference, ean, metadata } of rows) {
    const request = requests.get(tenantReference);
    if (request === undefined) requests.set(tenantReference, { tenantReference, eans: [ean], metadata });
    // Several rows may have one EAN, each with another brand.
    else if (!request.eans.includes(ean)) request.eans.push(ean);
  }
  return [...requests.values()];
}

export interface LiveRegistration {
  readonly id: string;
  readonly tenantReference: string;
  readonly eans: readonly string[];
}

interface MarkedRow {
  readonly line: number;
  readonly status: 'sent' | 'invalid';
  readonly registrationId: string;
}

/** Returns what becomes of each row. Omits a row without a live registration, which is taken again later. */
// A row is also `sent` if its live registration is not of this campaign: once that registration has ended, the row gets its result.
export function markRows(rows: readonly TakenRow[], live: readonly LiveRegistration[]): MarkedRow[] {
  const wanted = new Map(
    requestsOf(rows).map(({ tenantReference, eans }) => [tenantReference, new Set(eans)]),
  );
  const registrations = new Map(live.map((each) => [each.tenantReference, each]));
  return rows.flatMap(({ line, tenantReference }): MarkedRow[] => {
    const registration = registrations.get(tenantReference);
    if (registration === undefined) return [];
    const eans = wanted.get(tenantReference)!;
    const isSame = eans.size === registration.eans.length && registration.eans.every((ean) => eans.has(ean));
    return [{ line, status: isSame ? 'sent' : 'invalid', registrationId: registration.id }];
  });
}
