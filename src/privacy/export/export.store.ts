import { Injectable } from '@nestjs/common';
import { recordAudit } from '../../access/audit-log.store.js';
import { Database } from '../../platform/database/database.js';
import { keyOf, selectRows, type Person } from '../../platform/database/personal-data.js';
import { findPerson, PERSONAL_DATA } from '../personal-data.js';

/** The most rows in memory. */
const ROWS_PER_PAGE = 500;

const REGISTRATIONS_OF_USER = 'SELECT id FROM registrations WHERE tenant_reference = $1 OR user_id = $2';

const FIND_STORED = 'SELECT FROM users WHERE id = $1 AND erased_at IS NULL';

/** Reads what an erasure would remove. */
@Injectable()
export class ExportStore {
  constructor(private readonly database: Database) {}

  /** Finds a user and records the export. Returns null if there is no user, or if the user has been erased. */
  async begin(userId: string, actor: string): Promise<Person | null> {
    return this.database.transaction(async (tx) => {
      const user = await tx.prisma.user.findUnique({ where: { id: userId } });
      if (!user?.tenantReference) return null;
      const { tenantReference } = user;
      const rows = await tx.query<{ id: string }>(REGISTRATIONS_OF_USER, [tenantReference, userId]);
      await recordAudit(tx, { actor, action: 'user.exported', target: userId });
      return findPerson(tx, { userId, tenantReference, registrationIds: rows.map(({ id }) => id) });
    });
  }

  /**
   * Returns the parts of one JSON object: the rows of each table. Reads the next page when the caller has taken the page before. Throws
   * before its end if the user is erased meanwhile.
   */
  async *document(person: Person, parts = PERSONAL_DATA): AsyncGenerator<string> {
    const exportedAt = (await this.database.now()).toISOString();
    yield `{"object":"user_export","userId":${JSON.stringify(person.userId)},"exportedAt":"${exportedAt}","data":{`;
    for (const [index, part] of parts.entries()) {
      yield `${index > 0 ? ',' : ''}\n"${keyOf(part)}":[`;
      let separator = '\n';
      const text = selectRows(part);
      for (let offset = 0, isLast = false; !isLast; offset += ROWS_PER_PAGE) {
        const values = [part.parameter(person), ROWS_PER_PAGE, offset];
        const rows = await this.database.query<{ row: string }>(text, values);
        for (const { row } of rows) {
          yield separator + row;
          separator = ',\n';
        }
        isLast = rows.length < ROWS_PER_PAGE;
      }
      yield ']';
    }
    // An erasure may have removed rows meanwhile. Then the connection is reset, so that the document does not look whole.
    if ((await this.database.query(FIND_STORED, [person.userId])).length === 0)
      throw new Error('the user was erased during the export');
    yield '}}\n';
  }
}
