import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/database.js';
import type { ListPosition } from '../../platform/database/list-position.js';
import type { Prisma } from '../../platform/database/generated/client.js';
import { whereOf } from '../../platform/database/where.js';
import { containsMetadata } from '../metadata.dto.js';
import type { Metadata } from '../metadata.rules.js';
import type { RemoteUser } from '../remote/remote-user.rules.js';
import type { ListUsersQuery } from '../users.dto.js';
import type { UserRecord } from './user.view.js';

const AS_VIEW = {
  omit: { erasedAt: true },
  include: { gridLocations: { select: { id: true, ean: true }, orderBy: { ean: 'asc' } } },
} as const;

/** Reads the mirror of the users that the Solar Curtailment Service, or a person on its behalf, has confirmed. */
@Injectable()
export class UsersStore {
  constructor(private readonly database: Database) {}

  async findUser(id: string): Promise<UserRecord | null> {
    const where = { id, erasedAt: null };
    // Prisma's type allows null for the reference and the EANs, but only an erased user has nulls. The metadata is always an object.
    return (await this.database.prisma.user.findUnique({ where, ...AS_VIEW })) as UserRecord | null;
  }

  async listUsers(
    filter: Omit<ListUsersQuery, 'limit' | 'cursor'>,
    position: ListPosition | undefined,
    limit: number,
  ): Promise<UserRecord[]> {
    const { where, values } = whereOf([
      ['erased_at IS NULL'],
      ['tenant_reference = ?', filter.tenantReference],
      ['id IN (SELECT user_id FROM grid_locations WHERE ean = ?)', filter.ean],
      ...containsMetadata('metadata', filter.metadata),
      ['(registered_at, id) < (?, ?::uuid)', position?.at, position?.id],
    ]);
    const text = `${SELECT_USERS} ${where} ORDER BY registered_at DESC, id DESC LIMIT ${limit}`;
    return this.database.query<UserRecord>(text, values);
  }
}

/** Returns a user that is known to exist. */
export async function getUser({ prisma }: Transaction, id: string): Promise<UserRecord> {
  return (await prisma.user.findUniqueOrThrow({ where: { id }, ...AS_VIEW })) as UserRecord;
}

/** Inserts a confirmed user with its grid locations. Fails with a unique violation if an id or the reference belongs to another user. */
export async function insertUser(
  tx: Transaction,
  { gridLocations, createdAt, updatedAt, ...user }: RemoteUser,
  metadata: Metadata,
): Promise<UserRecord> {
  const row = await tx.prisma.user.create({
    data: {
      ...user,
      metadata: metadata as Prisma.InputJsonObject,
      createdAt: createdAt ?? undefined,
      updatedAt: updatedAt ?? createdAt ?? undefined,
    },
    omit: { erasedAt: true },
  });
  // Sorts the locations by id, so that two transactions that insert the same grid locations cannot deadlock.
  const locations = gridLocations.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  await tx.prisma.gridLocation.createMany({ data: locations.map((it) => ({ ...it, userId: user.id })) });
  const byEan = gridLocations.toSorted((one, other) => (one.ean < other.ean ? -1 : 1));
  return { ...row, gridLocations: byEan } as UserRecord;
}

/** Selects users for a list. SQL by hand: Prisma cannot test whether JSON contains an object, which a GIN index makes fast. */
// Not a prepared statement, so that PostgreSQL plans each query for its values: by the GIN index, or by the index in the order of the list.
const SELECT_USERS = `
  SELECT id, tenant_reference AS "tenantReference", tenant_name AS "tenantName", first_name AS "firstName", last_name AS "lastName",
    email, metadata, created_at AS "createdAt", updated_at AS "updatedAt", registered_at AS "registeredAt",
    coalesce((SELECT json_agg(json_build_object('id', location.id, 'ean', location.ean) ORDER BY location.ean)
      FROM grid_locations AS location WHERE location.user_id = users.id), '[]') AS "gridLocations"
  FROM users`;
