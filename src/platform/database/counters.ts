import pg from 'pg';

const INT8: number = pg.types.builtins.INT8;

/**
 * The names under which our statements return columns of type int and smallint. `prisma.spec.ts` compares the list with the schema. Other
 * columns of type bigint, such as sequences, stay texts.
 */
export const COUNTERS: ReadonlySet<string> = new Set([
  'age',
  'attempts',
  'changed',
  'difference',
  'earlyAttempts',
  'ended',
  'endingReads',
  'events',
  'expectedInverters',
  'failedTrials',
  'failing',
  'failures',
  'gridLocations',
  'httpStatus',
  'consents',
  'inverters',
  'known',
  'lastStatus',
  'line',
  'notFound',
  'observations',
  'ordinal',
  'orphans',
  'read',
  'registrations',
  'remindersSent',
  'rows',
  'sessions',
  'size',
]);

type Row = Record<string, unknown>;

/** The result of several statements in one query has neither. */
type Result = Partial<Pick<pg.QueryResult<Row>, 'fields' | 'rows'>>;

/** Returns the rows. Counters stay numbers if a later release has made their columns a bigint, which pg returns as text. */
export function rowsOf({ fields = [], rows = [] }: Result): Row[] {
  for (const { name, dataTypeID } of fields) {
    if (dataTypeID !== INT8 || !COUNTERS.has(name)) continue;
    for (const row of rows) if (typeof row[name] === 'string') row[name] = Number(row[name]);
  }
  return rows;
}
