import type { Sql } from '../../platform/database/database.js';
import { SUMMARIES } from './sampled-figures.js';

// One sample of the status per minute is stored, for 8 days.

/** The samples of one step. `figures`: by the names of sampleOf; null if no sample has the figure. */
export interface SampleRow {
  readonly at: Date;
  /** The reasons of the step: for how long each was present, and until when. */
  readonly reasons: readonly { readonly code: string; readonly seconds: number; readonly until: string }[];
  readonly figures: Readonly<Record<string, number | null>>;
}

/** A reason keeps its beginning if it was absent for at most this time: perhaps no process took samples, or the reason comes and goes. */
const GAP = `interval '5 minutes'`;

/** SQL for a JSON object with the time at which each reason of the last minutes began. */
export const REASONS_SINCE = `(
  SELECT coalesce(json_object_agg(code, since), '{}') FROM (
    SELECT code, min(since::timestamptz) AS since FROM status_samples, jsonb_each_text(reasons) AS reason (code, since)
    WHERE at >= date_trunc('minute', now()) - ${GAP} GROUP BY code) AS present)`;

/** Returns a row if no process has written the sample of this minute. */
export const DUE_SAMPLE = `
  SELECT 1 WHERE NOT EXISTS (SELECT FROM status_samples WHERE at = date_trunc('minute', clock_timestamp()))`;

/** Returns whether no process has written the sample of this minute. */
export const isSampleDue = async (sql: Sql): Promise<boolean> => (await sql.query(DUE_SAMPLE)).length > 0;

// Deletes old samples in the same statement, since nothing else depends on them. If several processes write a sample, the first one stays.
const WRITE_SAMPLE = `
  WITH old AS (
    DELETE FROM status_samples WHERE at < now() - interval '8 days'
  )
  INSERT INTO status_samples (at, reasons, figures)
  SELECT date_trunc('minute', now()), (
    SELECT coalesce(jsonb_object_agg(code, coalesce(since::timestamptz, now())), '{}') FROM jsonb_each_text($1) AS reason (code, since)
  ), $2
  ON CONFLICT DO NOTHING`;

/** `since`: null for a reason that begins with this sample. */
export async function writeSample(
  sql: Sql,
  reasons: readonly { readonly code: string; readonly since: Date | null }[],
  figures: Readonly<Record<string, number | null>>,
): Promise<void> {
  const since = Object.fromEntries(reasons.map((reason) => [reason.code, reason.since]));
  await sql.query(WRITE_SAMPLE, [JSON.stringify(since), JSON.stringify(figures)]);
}

const WRITE_OUTAGE = `
  INSERT INTO status_samples (at, reasons, figures)
  SELECT minute, jsonb_build_object($1::text, now() - $2::float8 * interval '1 ms'), '{}'
    FROM generate_series(date_trunc('minute', now() - $2::float8 * interval '1 ms'), now(), '1 minute') AS minute
  ON CONFLICT (at) DO UPDATE SET reasons = status_samples.reasons || excluded.reasons`;

/** Adds a reason to the samples of the last `ms`, and writes the missing ones. For a time in which no sample could be written. */
export const writeOutage = (sql: Sql, code: string, ms: number): Promise<unknown> =>
  sql.query(WRITE_OUTAGE, [code, ms]);

const COLUMNS = [...SUMMARIES.keys()].map((name) => `"${name}" numeric`).join(', ');
const SUMMARISED = [...SUMMARIES]
  .map(([name, summary]) => `round(${summary}("${name}"), 3)::float8 AS "${name}"`)
  .join(', ');

/** Summarises the samples of the last $1 hours by steps of $2 seconds. */
const READ_HISTORY = `
  WITH samples AS MATERIALIZED (
    SELECT at, date_bin($2 * interval '1 second', at, 'epoch') AS step, reasons, figures
    FROM status_samples WHERE at > now() - $1 * interval '1 hour'
  ), named AS (
    SELECT step, json_agg(json_build_object('code', code, 'seconds', seconds, 'until', until)) AS reasons
    FROM (SELECT step, code, 60 * count(*) AS seconds, max(at) + interval '1 minute' AS until
            FROM samples, jsonb_object_keys(reasons) AS code GROUP BY step, code) AS lasted
    GROUP BY step
  ), summarised AS (
    SELECT step, ${SUMMARISED}
    FROM samples, jsonb_to_record(figures) AS figures (${COLUMNS})
    GROUP BY step
  )
  SELECT step AS at, coalesce(named.reasons, '[]') AS reasons, to_json(summarised) AS figures
  FROM summarised LEFT JOIN named USING (step) ORDER BY step`;

/** Returns the samples of the last `hours`, summarised by steps. Steps without a sample are absent. */
export const readHistory = (sql: Sql, hours: number, stepSeconds: number): Promise<SampleRow[]> =>
  sql.query(READ_HISTORY, [hours, stepSeconds]);
