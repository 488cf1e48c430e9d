import { Injectable } from '@nestjs/common';
import { Database, prepared } from '../../platform/database/database.js';
import type { Page } from '../../platform/http/page.js';
import type { UserRecord } from './user.view.js';
import { SELECT_USERS, USERS, type UsersQuery } from './users.list.js';

const FIND_USER = prepared('users.find_user')`${SELECT_USERS} WHERE id = $1 AND erased_at IS NULL`;

/** Reads the mirror of the users that the Solar Curtailment Service, or a person on its behalf, has confirmed. */
@Injectable()
export class UsersStore {
  constructor(private readonly database: Database) {}

  async findUser(id: string): Promise<UserRecord | null> {
    return (await this.database.query<UserRecord>(FIND_USER, [id]))[0] ?? null;
  }

  listUsers(query: UsersQuery): Promise<Page<UserRecord>> {
    return USERS.page(this.database, query);
  }
}
