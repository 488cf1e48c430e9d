import type { FieldError } from '../../platform/problem/problem.js';
import type { AskedUser, RemoteUser } from '../remote/remote-user.rules.js';

/** Which ids of a user object belong to users of other references here, or the user id to a session. */
export interface OthersIds {
  readonly userId: boolean;
  readonly gridLocationIds: readonly string[];
  /** Of those that were not asked for. */
  readonly eans: readonly string[];
}

/**
 * Returns the EANs of a user object that were not asked for. An EAN that was asked for may belong to several users, because people move.
 * One that was not asked for and belongs to somebody else here is taken for that person's.
 */
export function findUnaskedEans({ gridLocations }: RemoteUser, asked: AskedUser): string[] {
  const eans = new Set(asked.eans);
  return gridLocations.flatMap(({ ean }) => (eans.has(ean) ? [] : [ean]));
}

/** Returns the fields of a user object that belong to another user here. */
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

/** Returns the fields as paths that are the same for every element: `gridLocations[].id`. */
export const pathsOf = (fields: readonly FieldError[]): string[] => [
  ...new Set(fields.map(({ field }) => field.replace(/\[\d+\]/, '[]'))),
];
