export const UNIQUE_VIOLATION = '23505';
export const LOCK_NOT_AVAILABLE = '55P03';

/** Returns the SQLSTATE of a PostgreSQL error, even if Prisma or its adapter wrapped the error. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { originalCode, code, meta, cause } = error as Record<string, unknown>;
  const state = originalCode ?? code;
  if (typeof state === 'string' && /^(?!P[1-9])[0-9A-Z]{5}$/.test(state)) return state;
  return (
    sqlState(cause) ?? sqlState((meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError)
  );
}

/**
 * Returns whether a named statement may work again without its name: PostgreSQL refused to plan it (classes 0A and 42), for example because
 * a migration has retyped a column since it was prepared, or has lost it (26), as by DISCARD ALL. The statement was not executed.
 */
export const mayBeOutdated = (error: unknown): boolean => /^(0A|26|42)/.test(sqlState(error) ?? '');

/** Returns a text for an error of the database that contains no values: its SQLSTATE, or that it did not respond. */
export function describeState(error: unknown): string {
  const state = sqlState(error);
  return state === undefined ? 'the database could not be reached' : `SQLSTATE ${state}`;
}
