import type { Database } from '../platform/database/database.js';
import { HABIT_AGES_PER_E, LEAST_CHANGES, LEAST_WAITS, OLDEST_HABIT } from './habits.rules.js';
import type { HabitCount } from './habits.rules.js';

export interface BrandHabits {
  readonly brand: string;
  readonly phase: string;
  readonly counts: readonly HabitCount[];
}

/** A count includes only the stays in a phase that began within this number of days, so that old habits are forgotten. */
const COUNTED_DAYS = 90;
/** The maximum number of transitions that a count reads: the latest ones. Far fewer are enough to recognise habits. */
const MOST_TRANSITIONS = 200_000;
/** The timeout of each statement of a count, less than STOP_WITHIN_MS.process. After a timeout, the count is repeated as after any failure. */
const COUNT_WITHIN_MS = 4_000;

// A stay in a phase begins with a transition. It lasts until the transition that ended it, the close or erasure of the session, or now. The
// phases are those of phaseOf. A transition has the time of the read that observed it, so a stay is measured slightly too long.
const COUNT_HABITS = `
    INSERT INTO read_habits (brand, phase, age, changed, ended, seconds)
    SELECT brand, phase, age, count(*) FILTER (WHERE is_change), count(*),
           sum(seconds - CASE age WHEN 0 THEN 0 ELSE exp(age / ${HABIT_AGES_PER_E}::float8) END)
      FROM (
        SELECT *, least(${OLDEST_HABIT}, floor(${HABIT_AGES_PER_E} * ln(greatest(1, seconds))))::int AS age
          FROM (
            SELECT s.brand, t.phase,
                   coalesce(t.next_phase = 'online' OR (t.phase, t.next_phase) = ('awaiting_owner', 'awaiting_installation'), false) AS is_change,
                   greatest(0, date_part('epoch', coalesce(t.next_at, s.closed_at, now()) - t.at)) AS seconds
              FROM (
                SELECT session_id, phase, at, lead(phase) OVER stays AS next_phase, lead(at) OVER stays AS next_at
                  FROM (
                    SELECT *, lag(phase) OVER (PARTITION BY session_id ORDER BY id) AS before
                      FROM (
                        SELECT id, session_id, at, CASE WHEN to_state IN ('expired', 'lost') THEN 'late' ELSE to_state END AS phase
                          FROM session_transitions
                         WHERE at > now() - interval '${COUNTED_DAYS} days' AND id > $1::bigint) phases) begun
                 WHERE phase IS DISTINCT FROM before
                WINDOW stays AS (PARTITION BY session_id ORDER BY id)) t
              JOIN onboarding_sessions s ON s.id = t.session_id AND s.brand IS NOT NULL
             WHERE t.phase IN ('awaiting_owner', 'awaiting_installation', 'late')) stays) grouped
     GROUP BY brand, phase, age`;

// A wait is the time from `awaiting_installation` to `online`. If no read found the session in `awaiting_installation`, the wait is
// unknown, but short.
const COUNT_WAITS = `
    INSERT INTO brand_waits (brand, p50_seconds, p95_seconds, known)
    SELECT s.brand, percentile_disc(0.5) WITHIN GROUP (ORDER BY t.seconds), percentile_disc(0.95) WITHIN GROUP (ORDER BY t.seconds), count(*)
      FROM (SELECT session_id,
                   date_part('epoch', min(at) FILTER (WHERE to_state = 'online')
                                    - min(at) FILTER (WHERE to_state = 'awaiting_installation')) AS seconds
              FROM session_transitions
             WHERE at > now() - interval '${COUNTED_DAYS} days' AND id > $1::bigint
             GROUP BY session_id) t
      JOIN onboarding_sessions s ON s.id = t.session_id AND s.brand IS NOT NULL
     WHERE t.seconds >= 0
     GROUP BY s.brand HAVING count(*) >= ${LEAST_WAITS}`;

const FIND_KNOWN = `
    SELECT brand, phase, json_agg(json_build_object('age', age, 'changed', changed, 'ended', ended, 'seconds', seconds)) AS counts
      FROM read_habits GROUP BY brand, phase HAVING sum(changed) >= ${LEAST_CHANGES}`;

/** Counts how long the sessions of each brand stay in a phase, unless no session has a brand. */
export async function countHabits(database: Database): Promise<void> {
  const branded = await database.query('SELECT FROM onboarding_sessions WHERE brand IS NOT NULL LIMIT 1');
  if (branded.length === 0) return;
  // Passes the last id as a parameter. With a subquery instead, the planner would not know how few transitions are read.
  const [last] = await database.query<{ id: string }>(
    'SELECT coalesce(max(id), 0) AS id FROM session_transitions',
  );
  await database.transaction(async (tx) => {
    await tx.query(`SET LOCAL statement_timeout = ${COUNT_WITHIN_MS}`);
    await tx.query('DELETE FROM read_habits');
    await tx.query(COUNT_HABITS, [Number(last!.id) - MOST_TRANSITIONS]);
    await tx.query('DELETE FROM brand_waits');
    await tx.query(COUNT_WAITS, [Number(last!.id) - MOST_TRANSITIONS]);
  });
}

export const findKnownHabits = (database: Database): Promise<BrandHabits[]> => database.query(FIND_KNOWN);

export const findUsualWaits = ({ prisma }: Database) => prisma.brandWait.findMany();
