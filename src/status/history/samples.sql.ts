import { SUMMARIES } from './sampled-figures.js';

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

// Deletes old samples in the same statement, since nothing else depends on them. If several processes write a sample, the first one stays.
export const WRITE_SAMPLE = `
  WITH old AS (
    DELETE FROM status_samples WHERE at < now() - interval '8 days'
  )
  INSERT INTO status_samples (at, reasons, figures)
  SELECT date_trunc('minute', now()), (
    SELECT coalesce(jsonb_object_agg(code, coalesce(since::timestamptz, now())), '{}') FROM jsonb_each_text($1) AS reason (code, since)
  ), $2
  ON CONFLICT DO NOTHING`;

export const WRITE_OUTAGE = `
  INSERT INTO status_samples (at, reasons, figures)
  SELECT minute, jsonb_build_object($1::text, now() - $2::float8 * interval '1 ms'), '{}'
    FROM generate_series(greatest(date_trunc('minute', now() - $2::float8 * interval '1 ms'), now() - interval '8 days'), now(), '1 minute') AS minute
  ON CONFLICT (at) DO UPDATE SET reasons = status_samples.reasons || excluded.reasons`;

const COLUMNS = [...SUMMARIES.keys()].map((name) => `"${name}" numeric`).join(', ');
const SUMMARISED = [...SUMMARIES]
  .map(([name, summary]) => `round(${summary}("${name}"), 3)::float8 AS "${name}"`)
  .join(', ');

/** Summarises the samples of the last $1 hours by steps of $2 seconds. */
export const READ_HISTORY = `
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
