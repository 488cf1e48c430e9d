import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { Problem } from '../../platform/problem/problem.js';
import type { Prisma } from '../../platform/database/generated/client.js';
import type { RemoteUser } from '../remote/remote-user.rules.js';

const WITH_LOCATIONS = {
  gridLocations: { select: { id: true, ean: true }, orderBy: { ean: 'asc' } },
} as const satisfies Prisma.UserInclude;

type UserRow = Prisma.UserGetPayload<{ include: typeof WITH_LOCATIONS }>;

/** A user that has not been erased. */
export interface UserRecord extends Omit<UserRow, 'tenantReference' | 'gridLocations' | 'erasedAt'> {
  readonly tenantReference: string;
  readonly gridLocations: { readonly id: string; readonly ean: string }[];
}

export interface UserFilter {
  readonly tenantReference?: string;
  readonly ean?: string;
}

/** The position after which a page goes on: the last row of the page before. */
export interface ListPosition {
  readonly at: Date;
  readonly id: string;
}

/** What the database makes of a user that is inserted: metadata as jsonb keeps them, times to the millisecond. */
export type StoredUser = Pick<UserRecord, 'metadata' | 'createdAt' | 'updatedAt' | 'registeredAt'>;

/** The mirror of the users that the Solar Curtailment Service, or a person on its behalf, confirmed. */
@Injectable()
export class UsersStore {
  constructor(private readonly database: Database) {}

  /** Null for an erased one too. */
  async findUser(id: string): Promise<UserRecord | null> {
    const user = await this.database.prisma.user.findUnique({
      where: { id, erasedAt: null },
      include: WITH_LOCATIONS,
    });
    return user && toRecord(user);
  }

  /** Throws Problem not_found. */
  async getUser(id: string): Promise<UserRecord> {
    const user = await this.findUser(id);
    if (user === null) throw new Problem('not_found', `There is no user ${id}`);
    return user;
  }

  /** Newest first: at most `limit` users that come after `position`. */
  async listUsers(
    filter: UserFilter,
    position: ListPosition | undefined,
    limit: number,
  ): Promise<UserRecord[]> {
    const users = await this.database.prisma.user.findMany({
      where: {
        erasedAt: null,
        ...(filter.tenantReference !== undefined && { tenantReference: filter.tenantReference }),
        ...(filter.ean !== undefined && { gridLocations: { some: { ean: filter.ean } } }),
        ...(position !== undefined && {
          // Says what the OR says already, in a form that lets the index begin at the position.
          registeredAt: { lte: position.at },
          OR: [{ registeredAt: { lt: position.at } }, { id: { lt: position.id } }],
        }),
      },
      include: WITH_LOCATIONS,
      orderBy: [{ registeredAt: 'desc' }, { id: 'desc' }],
      take: limit,
    });
    return users.map(toRecord);
  }
}

// The fields stand in the order in which Prisma reads them, so that the first answer and its repetition are the same to the byte.
export const toStoredRecord = (user: RemoteUser, stored: StoredUser): UserRecord => ({
  id: user.id,
  tenantReference: user.tenantReference,
  tenantName: user.tenantName,
  firstName: user.firstName,
  lastName: user.lastName,
  email: user.email,
  metadata: stored.metadata,
  createdAt: stored.createdAt,
  updatedAt: stored.updatedAt,
  registeredAt: stored.registeredAt,
  gridLocations: user.gridLocations
    .map(({ id, ean }) => ({ id, ean }))
    .sort((one, other) => (one.ean < other.ean ? -1 : 1)),
});

// Prisma cannot know that only an erased user lacks what the types of the row leave open.
const toRecord = ({ erasedAt: _, ...user }: UserRow): UserRecord => user as UserRecord;
