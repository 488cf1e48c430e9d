import type { Database } from './database.js';

/** The role that may read the views of the schema `admin` and nothing else. */
export const READER_ROLE = 'pv_onboarding_reader';

// SQL instead of Prisma, since Prisma Client cannot set a role.
/** Returns why the user of the database cannot read the views in the role of a reader; null if it can. */
export async function findReaderFault(database: Database): Promise<string | null> {
  try {
    await database.transaction(async (tx) => {
      await tx.query(`SET LOCAL ROLE ${READER_ROLE}`);
      await tx.query('SELECT FROM admin.sessions LIMIT 0');
    });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
