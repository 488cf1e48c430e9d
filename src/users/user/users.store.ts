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

/** The last row of the previous page. */
export interface ListPosition {
  readonly at: Date;
  readonly id: string;
}

/** What the database sets or normalises when it inserts a user: metadata as stored in jsonb, times to the millisecond. */
export type StoredUser = Pick<UserRecord, 'metadata' | 'createdAt' | 'updatedAt' | 'registeredAt'>;

/** Reads the mirror of the users that the Solar Curtailment Service, or a person on its behalf, has confirmed. */
@Injectable()
export class UsersStore {
  constructor(private readonly database: Database) {}

  /** Returns null for an unknown or an erased user. */
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

  /** Returns at most `limit` users after `position`, newest first. */
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
          // Implied by the OR, in a form that lets the index scan start at the position.
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

// The fields are in the order in which Prisma returns them, so that the first response and its repetition are identical byte for byte.
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

// Prisma does not know that only an erased user lacks the fields that the row type leaves nullable.
const toRecord = ({ erasedAt: _, ...user }: UserRow): UserRecord => user as UserRecord;
