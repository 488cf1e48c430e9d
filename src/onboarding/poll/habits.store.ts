import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '../../platform/database/database.js';
import { msFromNow } from '../../platform/database/timestamps.js';
import { HABIT_AGES_PER_E, LEAST_CHANGES, OLDEST_HABIT, type HabitCount } from '../rules/habits.rules.js';

export interface BrandHabits {
  /** Empty for sessions without a brand. */
  readonly brand: string;
  readonly phase: string;
  readonly counts: readonly HabitCount[];
}

/** The counted stays began in this time, so that old habits are forgotten. */
const COUNTED_DAYS = 90;
/** Older transitions are not read. A million took 9 s on two busy cores; a statement may take 15 s. Habits show in far fewer. */
const MOST_TRANSITIONS = 500_000;
const DAY_MS = 86_400_000;
/** While a worker counts, and if that fails, no other one counts for this time. */
const RETRY_MS = 600_000;

/** Returns a row for the one worker that may count now. */
const CLAIM_COUNT: Statement = {
  name: 'onboarding.claim_habits',
  text: `
    UPDATE read_price SET habits_after = ${msFromNow('$1')}
     WHERE coalesce(habits_after <= clock_timestamp(), true)
    RETURNING id`,
};

// A stay in a phase lasts from a transition to the next one, to the close (or erasure) of the session, or until now. Phases as in phaseOf.
// A change counts at the read that noticed it, a fraction of its age later.
const COUNT_HABITS = `
    INSERT INTO read_habits (brand, phase, age, changed, ended, seconds)
    SELECT brand, phase, age, count(*) FILTER (WHERE is_change), count(*),
           sum(seconds - CASE age WHEN 0 THEN 0 ELSE exp(age / ${HABIT_AGES_PER_E}::float8) END)
      FROM (
        SELECT *, least(${OLDEST_HABIT}, floor(${HABIT_AGES_PER_E} * ln(greatest(1, seconds))))::int AS age
          FROM (
            SELECT coalesce(s.brand, '') AS brand,
                   CASE WHEN t.state IN ('expired', 'lost') THEN 'late' ELSE t.state END AS phase,
                   coalesce(t.next_state = 'online' OR (t.state, t.next_state) = ('awaiting_owner', 'awaiting_installation'), false) AS is_change,
                   greatest(0, date_part('epoch', coalesce(t.next_at, s.closed_at, now()) - t.at)) AS seconds
              FROM (
                SELECT session_id, to_state AS state, at, lead(to_state) OVER stays AS next_state, lead(at) OVER stays AS next_at
                  FROM session_transitions
                 WHERE at > now() - interval '${COUNTED_DAYS} days' AND id > (SELECT max(id) FROM session_transitions) - ${MOST_TRANSITIONS}
                WINDOW stays AS (PARTITION BY session_id ORDER BY id)) t
              JOIN onboarding_sessions s ON s.id = t.session_id
             WHERE t.state IN ('awaiting_owner', 'awaiting_installation', 'expired', 'lost')) stays) grouped
     GROUP BY brand, phase, age`;

const FIND_KNOWN: Statement = {
  name: 'onboarding.find_habits',
  text: `
    SELECT brand, phase, json_agg(json_build_object('age', age, 'changed', changed, 'ended', ended, 'seconds', seconds)) AS counts
      FROM read_habits GROUP BY brand, phase HAVING sum(changed) >= ${LEAST_CHANGES}`,
};

/** Counts how long the sessions of each brand stay in a phase. */
@Injectable()
export class HabitsStore {
  constructor(private readonly database: Database) {}

  /** Counts again, unless another worker has done so within a day. */
  async countDaily(): Promise<void> {
    if ((await this.database.query(CLAIM_COUNT, [RETRY_MS])).length === 0) return;
    await this.database.transaction(async (tx) => {
      await tx.query('DELETE FROM read_habits');
      await tx.query(COUNT_HABITS);
      await tx.query(`UPDATE read_price SET habits_after = ${msFromNow('$1')}`, [DAY_MS]);
    });
  }

  /** Returns the counts of all brands and phases of which enough changes are known. */
  async findKnown(): Promise<BrandHabits[]> {
    return this.database.query<BrandHabits>(FIND_KNOWN);
  }
}
