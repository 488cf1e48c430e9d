import * as by from '../../platform/list/filters.js';
import { List } from '../../platform/list/list.js';
import { EAN_PATTERN, eanFault } from '../ean.rules.js';
import { metadataFilter } from '../metadata.dto.js';
import { ReferenceOfCustomer } from '../tenant-reference.dto.js';

// This is SQL, since Prisma cannot test whether JSON contains an object, which a GIN index makes fast.
/** The columns of a user, with its locations from a table or a CTE. */
export const userColumns = (locations: string): string => `
  id, tenant_reference AS "tenantReference", tenant_name AS "tenantName", first_name AS "firstName", last_name AS "lastName",
    email, metadata, created_at AS "createdAt", updated_at AS "updatedAt", registered_at AS "registeredAt",
    coalesce((SELECT json_agg(json_build_object('id', location.id, 'ean', location.ean) ORDER BY location.ean)
      FROM ${locations} AS location WHERE location.user_id = users.id), '[]') AS "gridLocations"`;

export const SELECT_USERS = `SELECT ${userColumns('grid_locations')} FROM users`;

export const USERS = new List({
  name: 'users',
  select: SELECT_USERS,
  where: 'erased_at IS NULL',
  order: { registeredAt: ['registered_at', 'instant'], id: ['id', 'uuid'] },
  descending: true,
  filters: {
    tenantReference: by.parameter<string>(
      ReferenceOfCustomer('Only items with this reference'),
      'tenant_reference = ?',
    ),
    ean: by.text('id IN (SELECT user_id FROM grid_locations WHERE ean = ?)', {
      pattern: EAN_PATTERN,
      description: 'Only items with this EAN',
      faultOf: eanFault,
    }),
    metadata: metadataFilter('metadata'),
  },
});

export class UsersQuery extends USERS.Query {}
