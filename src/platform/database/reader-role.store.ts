import type { Database } from './database.js';

/** The role that may read the views of the schema `admin` and nothing else. */
export const READER_ROLE = 'pv_onboarding_reader';

/** Why the user of the database cannot read the views in the role of a reader. */
export interface ReaderFault {
  readonly kind: 'not_migrated' | 'no_role' | 'not_member' | 'not_granted';
  /** What PostgreSQL says, if the user could try. */
  readonly detail?: string;
  /** The user of the database and the owner of the views, quoted for SQL where necessary. */
  readonly user: string;
  readonly owner: string | null;
}

interface Facts {
  readonly user: string;
  readonly owner: string | null;
  readonly hasRole: boolean;
}

// SQL instead of Prisma, since Prisma Client cannot set a role, and its schema has no catalogue. The catalogue may be read by every user.
const SELECT_FACTS = `
    SELECT quote_ident(current_user) AS "user",
      (SELECT quote_ident(viewowner) FROM pg_views WHERE schemaname = 'admin' AND viewname = 'sessions') AS owner,
      EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS "hasRole"`;

/** Returns null if the user can read the views. */
export async function findReaderFault(database: Database): Promise<ReaderFault | null> {
  const [facts] = await database.query<Facts>(SELECT_FACTS, [READER_ROLE]);
  const { user, owner, hasRole } = facts!;
  if (owner === null) return { kind: 'not_migrated', user, owner };
  if (!hasRole) return { kind: 'no_role', user, owner };
  let kind: ReaderFault['kind'] = 'not_member';
  try {
    await database.transaction(async (tx) => {
      await tx.query(`SET LOCAL ROLE ${READER_ROLE}`);
      kind = 'not_granted';
      await tx.query('SELECT FROM admin.sessions LIMIT 0');
    });
    return null;
  } catch (error) {
    return { kind, user, owner, detail: (error as Error).message };
  }
}
