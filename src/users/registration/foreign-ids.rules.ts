import type { FieldError } from '../../platform/problem/problem.js';
import type { AskedUser, RemoteUser } from '../remote/remote-user.rules.js';

/** Ids in a user object that belong to users of other references here, or to something else, such as a session. */
export interface OthersIds {
  readonly userId: boolean;
  readonly gridLocationIds: readonly string[];
  /** Only EANs that were not in the request. */
  readonly eans: readonly string[];
}

/**
 * Returns the EANs of a user object that were not in the request. A requested EAN may belong to several users, because people move. An
 * EAN that was not requested and belongs to another user here is attributed to that user.
 */
export function findUnaskedEans({ gridLocations }: RemoteUser, asked: AskedUser): string[] {
  const eans = new Set(asked.eans);
  return gridLocations.flatMap(({ ean }) => (eans.has(ean) ? [] : [ean]));
}

/** Returns a fault for each field of a user object that belongs to another user here. */
export function findForeignIds({ gridLocations }: RemoteUser, others: OthersIds): FieldError[] {
  const ids = new Set(others.gridLocationIds);
  const eans = new Set(others.eans);
  return [
    ...(others.userId ? [foreign('id')] : []),
    ...gridLocations.flatMap(({ id, ean }, index) => [
      ...(ids.has(id) ? [foreign(`gridLocations[${index}].id`)] : []),
      ...(eans.has(ean) ? [foreign(`gridLocations[${index}].ean`)] : []),
    ]),
  ];
}

const foreign = (field: string): FieldError => ({
  field,
  message: 'belongs to another user, or to something else, here',
});

/** Returns the distinct paths of the fields, without indexes: `gridLocations[].id`. */
export const pathsOf = (fields: readonly FieldError[]): string[] => [
  ...new Set(fields.map(({ field }) => field.replace(/\[\d+\]/, '[]'))),
];
