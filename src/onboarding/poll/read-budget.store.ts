import { Injectable } from '@nestjs/common';
import type { NewEvent } from '../../events/catalogue.rules.js';
import { appendEvents } from '../../events/outbox.js';
import { Database } from '../../platform/database/database.js';
import type { ReadBudget } from '../../platform/database/generated/client.js';
import { msFromNow } from '../../platform/database/timestamps.js';
import { AGES_PER_E, type AgeGroup } from '../rules/read-budget.rules.js';

export const STRETCH = 'coalesce((SELECT stretch FROM read_budget), 1)';

/** Whether the session of row `q` is not closed. The indexes by lane and by due time have the same condition. */
export const IS_OPEN = `q.phase <> 'watching'`;

/** A due time of a session that is not closed, or null. The order lets it take the index on due times, which has no other sessions. */
const ANY_OPEN = `(SELECT q.due_at FROM session_polls q WHERE ${IS_OPEN} ORDER BY q.due_at LIMIT 1)`;

const IS_DUE = 'coalesce(measure_after <= clock_timestamp(), true)';
/** Whether the measure is due. While no session is watched, it can only find that again. */
export const DUE_MEASURE = `
    SELECT FROM read_budget WHERE ${IS_DUE} AND (wanted_per_second > 0 OR ${ANY_OPEN} IS NOT NULL)`;

/** Claims the measurement, if it is due. `finish` is conditional on the returned `measureAfter`. */
const BEGIN = `
    UPDATE read_budget SET measure_after = ${msFromNow('$1')}
     WHERE ${IS_DUE}
    RETURNING measure_after AS "measureAfter", clock_timestamp() AS now, stretch, wanted_per_second AS "wantedPerSecond",
              allowed_per_second AS "allowedPerSecond", short_since AS "shortSince", announced_at AS "announcedAt"`;

// Uses date_part, since extract computes a numeric and takes longer. A scan of a million sessions takes a second on two busy cores.
const countByAge = (brand: string, sessions: string) => `
    SELECT ${brand} AS brand, phase, floor(${AGES_PER_E} * ln(greatest(0.001, date_part('epoch', now() - anchor_at))))::int AS age, count(*)::int AS sessions
      FROM ${sessions} WHERE ${IS_OPEN} GROUP BY 1, 2, 3`;
const COUNT_BY_AGE = countByAge('NULL', 'session_polls q');
/** Used only while something has been learned about brands: with the join, the scan takes three times as long. */
// All other brands form one group, since an app may give each session a brand of its own.
const COUNT_BY_BRAND = countByAge(
  'CASE WHEN s.brand = ANY($1::text[]) THEN s.brand END',
  'session_polls q JOIN onboarding_sessions s ON s.id = session_id',
);

/** `measureAfter`: when the next measure is due. */
export type Budget = Omit<ReadBudget, 'id'>;

/** The budget before a measure, which began at `now`. */
export interface BudgetMeasure extends Budget {
  readonly measureAfter: Date;
  readonly now: Date;
}

@Injectable()
export class ReadBudgetStore {
  constructor(private readonly database: Database) {}

  /** Claims the measure if it is due. No other worker can claim it for `withinMs`, or until `finish`. */
  async begin(withinMs: number): Promise<BudgetMeasure | undefined> {
    return (await this.database.query<BudgetMeasure>(BEGIN, [withinMs]))[0];
  }

  /** Counts the watched sessions by phase, age and brand. The sessions of all brands not in `brands` have the brand null. */
  async countByAge(brands: readonly string[]): Promise<(AgeGroup & { readonly brand: string | null })[]> {
    return brands.length === 0
      ? this.database.query(COUNT_BY_AGE)
      : this.database.query(COUNT_BY_BRAND, [brands]);
  }

  /** Writes the budget with its events, unless another worker has begun a later measure. */
  async finish({ measureAfter }: BudgetMeasure, budget: Budget, events: readonly NewEvent[]): Promise<void> {
    await this.database.transaction(async (tx) => {
      const written = await tx.prisma.readBudget.updateMany({ where: { measureAfter }, data: budget });
      if (written.count > 0) await appendEvents(tx, events);
    });
  }
}
