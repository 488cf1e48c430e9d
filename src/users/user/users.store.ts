import { Injectable } from '@nestjs/common';
import { Database, prepared } from '../../platform/database/database.js';
import { selectPage } from '../../platform/database/select-page.js';
import { containsMetadata } from '../metadata.dto.js';
import type { ListUsersQuery } from '../users.dto.js';
import type { UserRecord } from './user.view.js';

// This is SQL, since Prisma cannot test whether JSON contains an object, which a GIN index makes fast.
/** The columns of a user, with its locations from a table or a CTE. */
export const userColumns = (locations: string): string => `
  id, tenant_reference AS "tenantReference", tenant_name AS "tenantName", first_name AS "firstName", last_name AS "lastName",
    email, metadata, created_at AS "createdAt", updated_at AS "updatedAt", registered_at AS "registeredAt",
    coalesce((SELECT json_agg(json_build_object('id', location.id, 'ean', location.ean) ORDER BY location.ean)
      FROM ${locations} AS location WHERE location.user_id = users.id), '[]') AS "gridLocations"`;

const SELECT_USERS = `SELECT ${userColumns('grid_locations')} FROM users`;

const FIND_USER = prepared('users.find_user')`${SELECT_USERS} WHERE id = $1 AND erased_at IS NULL`;

/** Reads the mirror of the users that the Solar Curtailment Service, or a person on its behalf, has confirmed. */
@Injectable()
export class UsersStore {
  constructor(private readonly database: Database) {}

  async findUser(id: string): Promise<UserRecord | null> {
    return (await this.database.query<UserRecord>(FIND_USER, [id]))[0] ?? null;
  }

  async findByReferences(references: readonly string[]): Promise<UserRecord[]> {
    const text = `${SELECT_USERS} WHERE erased_at IS NULL AND tenant_reference = ANY ($1)`;
    return this.database.query<UserRecord>(text, [references]);
  }

  listUsers({ tenantReference, ean, metadata, cursor, limit }: ListUsersQuery): Promise<UserRecord[]> {
    // This is not a prepared statement, so that PostgreSQL plans each query for its values: by the GIN index or the index in list order.
    return selectPage(this.database, SELECT_USERS, 'registered_at DESC, id DESC', limit, [
      ['erased_at IS NULL'],
      ['tenant_reference = ?', tenantReference],
      ['id IN (SELECT user_id FROM grid_locations WHERE ean = ?)', ean],
      ...containsMetadata('metadata', metadata),
      ['(registered_at, id) < (?, ?::uuid)', cursor?.at, cursor?.id],
    ]);
  }
}
