import type { Sql, Statement } from '../platform/database/database.js';
import type { BudgetView } from './budget.view.js';

export type Budget = Omit<BudgetView, 'late'>;

/** Changes that are counted per state, the latest ones, so that the cost does not grow with their number. */
const CHANGES_PER_STATE = 1_000;

// A change is noticed at the transition. When it happened is known from the remote service, by its clock, and only of the last change of a
// session. Both states are entered while an owner may wait. A session counts as fresh in its first 10 minutes.
const READ_BUDGET: Statement = {
  name: 'status.read_budget',
  text: `
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
    SELECT p.stretch, p.wanted_per_second AS "wantedPerSecond", p.allowed_per_second AS "allowedPerSecond",
      p.announced_at IS NOT NULL AS "isShort",
      (SELECT json_build_object(
                'changes', count(*),
                'p50Seconds', percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds),
                'p95Seconds', percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds))
         FROM noticed) AS noticed
    FROM read_price p`,
};

/** Reads what the watched sessions want, what the remote service allows, and how soon changes are noticed. */
export async function readBudget(sql: Sql): Promise<Budget> {
  const [budget] = await sql.query<Budget>(READ_BUDGET);
  return budget!;
}
