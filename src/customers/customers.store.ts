import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { Page } from '../platform/http/page.js';
import { LIVE, SELECT_REGISTRATION } from '../users/registration/registrations.sql.js';
import type { RegistrationRecord } from '../users/registration/registrations.store.js';
import type { UserRecord } from '../users/user/user.view.js';
import { SELECT_USERS } from '../users/user/users.list.js';
import type { CustomerView } from './case.view.js';
import { CUSTOMERS, isFirstOfCustomer, STALLED_CUSTOMERS, type CustomersQuery } from './customers.list.js';

type CustomerRow = Pick<CustomerView, 'tenantReference'>;

const FIND_LATEST_REGISTRATIONS = `
    ${SELECT_REGISTRATION} WHERE id IN (
      SELECT DISTINCT ON (tenant_reference) id FROM registrations WHERE tenant_reference = ANY ($1)
       ORDER BY tenant_reference, ${LIVE} DESC, created_at DESC, id)`;

const FIND_REFERENCES = `
    SELECT users.tenant_reference AS reference FROM grid_locations JOIN users ON users.id = user_id
     WHERE grid_locations.ean = $1
    UNION
    SELECT tenant_reference FROM registrations WHERE eans @> ARRAY[$1]
    ORDER BY reference LIMIT $2`;

const FIND_USERS = `${SELECT_USERS} WHERE tenant_reference = ANY ($1)`;

@Injectable()
export class CustomersStore {
  constructor(private readonly database: Database) {}

  /** Lists the references of customers: the newest first, or by a filter of stalls the longest stalled. */
  listCustomers(query: CustomersQuery): Promise<Page<CustomerRow>> {
    return query.waitsFor === undefined && query.cause === undefined
      ? CUSTOMERS.page(this.database, query)
      : STALLED_CUSTOMERS.page(this.database, query, isFirstOfCustomer(query));
  }

  /** Returns at most `limit` references of users and registrations with this EAN, the first in order. */
  async findReferences(ean: string, limit: number): Promise<string[]> {
    const found = await this.database.query<{ reference: string }>(FIND_REFERENCES, [ean, limit]);
    return found.map(({ reference }) => reference);
  }

  findUsers(references: readonly string[]): Promise<UserRecord[]> {
    return this.database.query(FIND_USERS, [references]);
  }

  /** Returns the decisive registration of each reference: the live one, else the newest. */
  findRegistrations(references: readonly string[]): Promise<RegistrationRecord[]> {
    return this.database.query(FIND_LATEST_REGISTRATIONS, [references]);
  }
}
