import { FAILING_BRANDS } from '../brands/brands.store.js';
import { IS_OPEN } from '../onboarding/poll/read-budget.store.js';
import { IS_RESTORE_UNCHECKED } from '../platform/database/deployment.store.js';
import { COUNT } from '../stalls/stalls.sql.js';
import type { SESSION_CAUSES } from '../onboarding/stalls/session.causes.rules.js';
import type { StallKind } from '../stalls/cause.rules.js';
import { REASONS_SINCE } from './history/samples.store.js';

// SQL for the size in percent of a sample of at most 1,000 pages.
const SAMPLE_PERCENT = `least(100, 100 * 1000 * 8192.0 / greatest(8192, pg_relation_size('session_polls')))`;
/** If more sessions than these are watched, a sample of them is read. */
const ALL_READ = 50_000;

// `watched` counts the sessions that are not settled: nobody waits for the reads of settled ones. `phases` reads only a sample if there are
// many. With a million sessions, the sample takes 70 ms, and a scan of the whole table would take 1.3 s. A sample cannot replace the index
// while there are few: it has pages of the whole table, in which settled sessions may be the most. The last read of a session was at
// `claimed_at` or, while a batch contains the session, at `checked_at`; both are equal until the first read succeeds. A session is overdue
// if the poller would claim it: it is due, and no existing batch contains it.
export const READ_POLLING = `
  WITH late AS (
    SELECT q.phase, count(*) AS overdue, ${age('min(q.due_at)')} AS "oldestOverdueSeconds"
    FROM session_polls q
    WHERE q.due_at <= now() AND ${IS_OPEN} AND NOT EXISTS (SELECT 1 FROM poll_batches b WHERE b.id = q.batch_id)
    GROUP BY q.phase
  ), overdue AS (
    SELECT coalesce(sum(overdue), 0) AS overdue, coalesce(max("oldestOverdueSeconds"), 0) AS "oldestOverdueSeconds" FROM late
  ), reading AS (
    SELECT coalesce(sum(size), 0) AS reading, count(*) AS batches,
           count(*) FILTER (WHERE lease_until < now()) AS "abandonedBatches"
    FROM poll_batches
  ), open AS (
    SELECT count(*) AS watched FROM session_polls q WHERE ${IS_OPEN}
  ), polls AS (
    SELECT q.* FROM session_polls q WHERE ${IS_OPEN} AND (SELECT watched FROM open) <= ${ALL_READ}
    UNION ALL
    SELECT q.* FROM session_polls q TABLESAMPLE SYSTEM (${SAMPLE_PERCENT})
     WHERE ${IS_OPEN} AND (SELECT watched FROM open) > ${ALL_READ}
  ), read_ages AS (
    SELECT q.phase, extract(epoch FROM clock_timestamp() - CASE WHEN b.id IS NULL THEN q.claimed_at ELSE q.checked_at END) AS age,
      q.due_at <= now() OR b.id IS NOT NULL OR q.failures > 0 OR q.last_error IS NOT NULL AS is_waiting,
      q.batch_id IS NOT NULL AND (b.id IS NOT NULL OR q.claimed_at > q.checked_at) AS is_read,
      extract(epoch FROM clock_timestamp() - least(
        CASE WHEN b.id IS NOT NULL THEN q.claimed_at WHEN q.due_at <= now() THEN q.due_at END,
        CASE WHEN q.not_found = 0 AND q.failing_since > CASE WHEN b.id IS NULL THEN q.claimed_at ELSE q.checked_at END THEN q.failing_since END
      )) AS wait
    FROM polls q LEFT JOIN poll_batches b ON b.id = q.batch_id
  ), phases AS (
    SELECT phase, coalesce(round(max(age) FILTER (WHERE is_waiting), 3), 0) AS "oldestReadSeconds",
      round((percentile_cont(0.5) WITHIN GROUP (ORDER BY age))::numeric, 3) AS "medianReadSeconds"
    FROM read_ages GROUP BY phase ORDER BY phase
  ), poller AS (
    SELECT open.watched, overdue.*, reading.*,
      (SELECT coalesce(sum(reads_per_second), 0) FROM remote_replicas WHERE expires_at > now()) AS "readsPerSecond",
      (SELECT round(min(age) FILTER (WHERE is_read), 3) FROM read_ages) AS "newestReadSeconds",
      (SELECT coalesce(round(max(wait), 3), 0) FROM read_ages) AS "longestWaitSeconds",
      (SELECT coalesce(json_agg(phases), '[]') FROM phases) AS phases
    FROM open, overdue, reading
  )
  SELECT to_json(poller) AS poller, (SELECT coalesce(json_agg(late ORDER BY phase), '[]') FROM late) AS late FROM poller`;

/** The maximum number of subjects that are counted for one figure, so that the cost does not grow with an incident. */
const MOST_OF_FIGURE = 10_000;
const stalledFor = (kind: StallKind, causes: readonly string[]): string =>
  `FROM stalled WHERE kind = '${kind}' AND cause IN ('${causes.join(`', '`)}')`;
const countStalled = (kind: StallKind, ...causes: readonly string[]): string =>
  `(SELECT coalesce(sum(count), 0) ${stalledFor(kind, causes)})`;
const stalledSessions = (...causes: readonly (keyof typeof SESSION_CAUSES)[]): string =>
  countStalled('session', ...causes);
/** Returns SQL for the seconds since the oldest trouble of a cause began. */
const stalledSeconds = (kind: StallKind, cause: string): string =>
  age(`(SELECT oldest ${stalledFor(kind, [cause])})`);

// Scans only index ranges of waiting rows, so the cost grows with the backlog, not with the history. Does not read session_polls, so that
// these figures can be read even while that table is locked.
export const READ_QUEUES = `
  WITH stalled AS (
    SELECT c.kind, c.cause, ${COUNT} AS count, (SELECT min(x.since) FROM stalls x WHERE x.kind = c.kind AND x.cause = c.cause) AS oldest
      FROM stall_causes c LEFT JOIN stall_counts n ON n.kind = c.kind AND n.cause = c.cause GROUP BY c.kind, c.cause
  ), outbox AS (
    SELECT count(*) AS unsequenced, ${age('min(time)')} AS "oldestUnsequencedSeconds" FROM domain_events WHERE sequence IS NULL
  ), handlers AS (
    SELECT count(*) AS undelivered, count(*) FILTER (WHERE attempts > 0) AS failing,
           ${age('min(since) FILTER (WHERE attempts > 0)')} AS "oldestFailingSeconds",
           ${age('min(since)')} AS "oldestUndeliveredSeconds"
    FROM webhook_endpoints AS endpoint CROSS JOIN LATERAL (
      SELECT attempts, created_at AS since FROM webhook_deliveries WHERE endpoint_id = endpoint.id AND status = 'pending'
      UNION ALL
      SELECT 0, time FROM domain_events WHERE sequence > endpoint.read_to AND name = ANY (endpoint.types)
    ) AS owed
    WHERE endpoint.handler IS NOT NULL
  ), newest AS (
    SELECT coalesce(max(sequence), 0) AS sequence FROM domain_events
  ), endpoints AS (
    SELECT count(*) FILTER (WHERE disabled_at IS NULL) AS endpoints,
           ${countStalled('endpoint', 'failing')} AS "failingEndpoints",
           ${countStalled('endpoint', 'gone', 'disabled_after_failures')} AS "disabledEndpoints",
           ${stalledSeconds('endpoint', 'failing')} AS "oldestFailingSeconds",
           min(read_to) FILTER (WHERE disabled_at IS NULL) AS read_to
    FROM webhook_endpoints WHERE handler IS NULL
  ), unread AS (
    SELECT CASE WHEN read_to IS NULL THEN 0 ELSE greatest(0, newest.sequence - read_to) + unsequenced END AS unread,
      CASE WHEN read_to IS NULL THEN 0 ELSE greatest("oldestUnsequencedSeconds",
        ${age('(SELECT time FROM domain_events WHERE sequence > read_to ORDER BY sequence LIMIT 1)')}) END AS seconds
    FROM endpoints, newest, outbox
  ), deliveries AS (
    SELECT count(*) AS undelivered, count(*) FILTER (WHERE delivery.attempts > 0) AS failing,
           ${age('min(delivery.created_at)')} AS "oldestUndeliveredSeconds"
    FROM webhook_deliveries AS delivery JOIN webhook_endpoints AS endpoint ON endpoint.id = delivery.endpoint_id
    WHERE delivery.status = 'pending' AND endpoint.disabled_at IS NULL AND endpoint.handler IS NULL
  ), webhooks AS (
    SELECT endpoints, "failingEndpoints", "oldestFailingSeconds", "disabledEndpoints", unread, undelivered, failing,
      greatest("oldestUndeliveredSeconds", seconds) AS "oldestUndeliveredSeconds"
    FROM endpoints, unread, deliveries
  ), broker AS (
    SELECT name AS kind, coalesce(lease_until > clock_timestamp(), false) AS "isPublishing",
           newest.sequence - read_to AS unpublished,
           ${age('(SELECT time FROM domain_events WHERE sequence > read_to ORDER BY sequence LIMIT 1)')} AS "oldestUnpublishedSeconds",
           published_at AS "publishedAt", failing_since AS "failingSince", ${age('failing_since')} AS "failingSeconds", last_error AS "lastError", warnings
    FROM broker_positions, newest
  ), open_registrations AS (
    SELECT count(*) AS pending,
           ${age('min(created_at)')} AS "oldestPendingSeconds",
           ${countStalled('registration', 'uncertain')} AS uncertain,
           ${stalledSeconds('registration', 'uncertain')} AS "oldestUncertainSeconds",
           ${IS_RESTORE_UNCHECKED} AS "areUnchecked"
    FROM registrations WHERE status = 'pending'
  ), rejected AS (
    SELECT count(*) AS rejected FROM (
      SELECT FROM registrations WHERE status = 'rejected' AND updated_at > now() - interval '1 day' LIMIT ${MOST_OF_FIGURE}) r
  ), abandoned AS (
    SELECT count(*) AS abandoned, ${age('min(lease_until)')} AS "oldestAbandonedSeconds"
    FROM session_starts WHERE status = 'sending' AND lease_until < now()
  ), orphans AS (
    SELECT coalesce(sum(orphans), 0) AS orphans,
           coalesce(sum(orphans) FILTER (WHERE updated_at > now() - interval '1 hour'), 0) AS "newOrphans" FROM session_starts
    WHERE orphans > 0 AND updated_at > now() - interval '1 day'
  ), registrations AS (
    SELECT * FROM open_registrations, rejected
  ), starts AS (
    SELECT * FROM abandoned, orphans
  ), open_lost AS (
    SELECT count(*) FROM (
      SELECT FROM stalls x WHERE x.kind = 'session' AND x.cause = 'lost' AND x.evidence ->> 'isClosed' = 'false' LIMIT ${MOST_OF_FIGURE}) t
  ), sessions AS (
    SELECT ${stalledSessions('unrecognised', 'too_many_inverters')} AS unrecognised, (SELECT count FROM open_lost) AS lost,
           ${stalledSessions('all_inverters_missing')} AS "allInvertersMissing",
           ${stalledSessions('some_inverters_missing')} AS "someInvertersMissing",
           ${countStalled('inverter', 'shared')} AS "sharedInverters",
           coalesce(json_agg(json_build_object('cause', cause, 'sessions', count)) FILTER (WHERE kind = 'session'), '[]') AS stalled
    FROM stalled
  )
  SELECT clock_timestamp() AS now, to_json(outbox) AS outbox, to_json(handlers) AS handlers, to_json(webhooks) AS webhooks,
    (SELECT to_json(broker) FROM broker LIMIT 1) AS broker, to_json(sessions) AS sessions,
    to_json(registrations) AS registrations, to_json(starts) AS starts, (
      SELECT json_build_object('contractDrift', count(*), 'newDrift', count(*) FILTER (WHERE first_seen_at > now() - interval '1 hour'))
      FROM remote_drift
    ) AS drift, (
      SELECT count(*)::int FROM invitations WHERE wish_due_at IS NOT NULL AND wished_at < now() - interval '1 minute'
    ) AS "pendingWishes", (
      SELECT coalesce(json_agg(json_build_object('brand', o.brand, 'failing', o.failing, 'read', o.read, 'seconds', ${age('o.since')})
                               ORDER BY o.since), '[]')
        FROM brand_outages o WHERE o.brand = ANY (${FAILING_BRANDS})
    ) AS "brandOutages", (SELECT coalesce(json_agg(causes), '[]') FROM stalled AS causes) AS stalled, ${REASONS_SINCE} AS "reasonsSince"
  FROM outbox, handlers, webhooks, registrations, starts, sessions`;

/** The maximum number of latest changes counted per state. The maximum keeps the cost constant. */
const CHANGES_PER_STATE = 1_000;

// Compares the time of a transition with `updated_at`, when the session changed by the clock of the remote service. That time is known only
// for the last change. Counts only states that a session enters in its first 10 minutes, while its owner may be waiting.
export const READ_BUDGET = `
  WITH noticed AS (
    SELECT extract(epoch FROM t.at - s.updated_at)::float8 AS seconds
      FROM (VALUES ('awaiting_installation'), ('online')) AS fresh (state)
     CROSS JOIN LATERAL (
             SELECT session_id, at FROM session_transitions
              WHERE to_state = fresh.state AND at > now() - interval '1 hour' AND from_state IS NOT NULL
              ORDER BY at DESC LIMIT ${CHANGES_PER_STATE}) t
      JOIN onboarding_sessions s ON s.id = t.session_id
     WHERE s.state_changed_at = t.at AND s.updated_at BETWEEN s.recorded_at AND least(t.at, s.recorded_at + interval '10 minutes')
  )
  SELECT b.stretch, b.wanted_per_second AS "wantedPerSecond", b.allowed_per_second AS "allowedPerSecond",
    b.announced_at IS NOT NULL AS "isShort", $1::float8 / 1000 * b.stretch AS "maxIntervalSeconds",
    greatest($1::float8 / 1000 * b.stretch, (
      SELECT max((figures ->> 'maxIntervalSeconds')::float8) FROM status_samples WHERE at > now() - interval '4 hours'
    )) AS "recentMaxIntervalSeconds",
    (SELECT json_build_object(
              'changes', count(*),
              'p50Seconds', percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds),
              'p95Seconds', percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds))
       FROM noticed) AS noticed
  FROM read_budget b`;

/** The maximum number of changes or starts that are counted. The maximum keeps the cost constant. */
const MOST_COUNTED = 1_000;

const countOf = (condition: string, from: string, to: string): string => `
  (SELECT count(*) FROM (SELECT FROM session_transitions WHERE ${condition} AND at > ${from} AND at <= ${to} LIMIT ${MOST_COUNTED}) t)`;

const CHANGED = `to_state IN ('awaiting_installation', 'online') AND from_state IS NOT NULL`;
const STARTED = `to_state = 'awaiting_owner' AND from_state IS NULL`;
const OF_DAY = (condition: string, length: string): string =>
  countOf(condition, `now() - day * interval '1 day' - ${length}`, `now() - day * interval '1 day'`);

// Returns the last change of a session to awaiting_installation or online, and the number of sessions started within the last hour. The
// usual counts are the lowest counts in the same part of each of the last 7 days, so that a quiet night or weekend does not look unusual.
// A usual count is null if fewer than 3 of these days have data. `usualChanges` is also null until 15 minutes have passed without a change.
export const READ_ACTIVITY = `
  WITH first AS (
    SELECT at FROM session_transitions WHERE to_state = 'awaiting_owner' ORDER BY at LIMIT 1
  ), last AS (
    SELECT max(at) AS at FROM (VALUES ('awaiting_installation'), ('online')) AS changed (state)
     CROSS JOIN LATERAL (
             SELECT at FROM session_transitions WHERE to_state = state AND from_state IS NOT NULL ORDER BY at DESC LIMIT 1) t
  ), quiet AS (
    SELECT at, least(now() - at, interval '1 day') AS length FROM last
  ), days AS (
    SELECT day FROM generate_series(1, 7) AS day, first WHERE first.at < now() - (day + 1) * interval '1 day'
  )
  SELECT quiet.at AS "lastChangeAt", ${age('quiet.at')}::float8 AS "unchangedSeconds",
    (SELECT CASE WHEN count(*) >= 3 THEN min(${OF_DAY(CHANGED, 'quiet.length')}) END FROM days
      WHERE quiet.length > interval '15 minutes')::int AS "usualChanges",
    ${countOf(STARTED, `now() - interval '1 hour'`, 'now()')}::int AS "startsPerHour",
    (SELECT CASE WHEN count(*) >= 3 THEN min(${OF_DAY(STARTED, `interval '1 hour'`)}) END FROM days)::int AS "usualStartsPerHour"
  FROM quiet`;

// PostgreSQL shows the transactions of other users only to members of pg_read_all_stats. Excludes walsenders (backups and standbys).
// Excludes pg_dump for 6 hours, because its one transaction lasts for hours in a large database.
export const FIND_OLDEST_TRANSACTION = `
  SELECT extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds,
    format('process %s (%s, %s, %s)', pid, usename, coalesce(nullif(application_name, ''), 'no name'), state) AS process
  FROM pg_stat_activity
  WHERE datname = current_database() AND xact_start IS NOT NULL AND backend_type = 'client backend' AND pid <> pg_backend_pid()
    AND (application_name <> 'pg_dump' OR xact_start < now() - interval '6 hours')
  ORDER BY xact_start LIMIT 1`;

export const LIST_OPERATIONS = `
  SELECT operation, health, since, reason, ${age('quiet_until', -1)}::float8 AS "waitSeconds"
  FROM remote_operations ORDER BY since`;

export const LIST_REPLICAS = `
  SELECT name, role, expires_at > clock_timestamp() AS "isAlive", joined_at AS "startedAt", seen_at AS "lastSeenAt",
    reads_per_second AS "readsPerSecond", paced_since AS "pacedSince", stopped_at AS "stoppedAt",
    clock_offset_seconds AS "clockOffsetSeconds", signs
  FROM remote_replicas ORDER BY "isAlive" DESC, role, name, joined_at`;

/** Returns SQL for the seconds since `since`, or until `since` if the sign is -1. The value is 0 if `since` is null. */
function age(since: string, sign = 1): string {
  return `coalesce(greatest(0, round(${sign} * extract(epoch FROM clock_timestamp() - ${since}), 3)), 0)`;
}
