/** The last row of the previous page, in a list ordered by an instant and, for equal instants, by id. */
export interface ListPosition {
  readonly at: Date;
  readonly id: string;
}

export const NEWEST_FIRST = [{ createdAt: 'desc' as const }, { id: 'desc' as const }];

/** Returns the Prisma filter for rows after a position, newest first. The first condition lets an index scan start at the position. */
export const after = ({ at, id }: ListPosition) => ({
  createdAt: { lte: at },
  OR: [{ createdAt: { lt: at } }, { id: { lt: id } }],
});
