import type { Sql } from '../../platform/database/database.js';
import { DUE_SAMPLE, READ_HISTORY, WRITE_OUTAGE, WRITE_SAMPLE } from './samples.sql.js';

/** The samples of one step. `figures`: by the names of sampleOf; null if no sample has the figure. */
export interface SampleRow {
  readonly at: Date;
  /** The reasons of the step: for how long each was present, and until when. */
  readonly reasons: readonly { readonly code: string; readonly seconds: number; readonly until: string }[];
  readonly figures: Readonly<Record<string, number | null>>;
}

// One sample of the status per minute is stored, for 8 days.

/** Returns whether no process has written the sample of this minute. */
export const isSampleDue = async (sql: Sql): Promise<boolean> => (await sql.query(DUE_SAMPLE)).length > 0;

/** `since`: null for a reason that begins with this sample. */
export async function writeSample(
  sql: Sql,
  reasons: readonly { readonly code: string; readonly since: Date | null }[],
  figures: Readonly<Record<string, number | null>>,
): Promise<void> {
  const since = Object.fromEntries(reasons.map((reason) => [reason.code, reason.since]));
  await sql.query(WRITE_SAMPLE, [JSON.stringify(since), JSON.stringify(figures)]);
}

/** Adds a reason to the samples of the last `ms`, and writes the missing ones. For a time in which no sample could be written. */
export const writeOutage = (sql: Sql, code: string, ms: number): Promise<unknown> =>
  sql.query(WRITE_OUTAGE, [code, ms]);

/** Returns the samples of the last `hours`, summarised by steps. Steps without a sample are absent. */
export const readHistory = (sql: Sql, hours: number, stepSeconds: number): Promise<SampleRow[]> =>
  sql.query(READ_HISTORY, [hours, stepSeconds]);
