import { takeCell } from '../../platform/rate/cell-rate.rules.js';

/** How often one session may change what is recorded and told of it: far more than an onboarding needs, few enough to store. */
const CHANGES = { amount: 30, periodMs: 3_600_000 };

/** What is remembered of a session's changes. */
export interface ChangeRecord {
  /** When all changes counted so far are forgotten (see cell-rate.ts); null before the first. */
  readonly changesClearAt: Date | null;
  /** Since when changes are held back; null once an hour's changes are forgotten. */
  readonly flappingSince: Date | null;
}

/** Counts a change, and returns whether it is recorded now or held back. One that `mustPass` is recorded whether there is room or not. */
export function countChange(
  before: ChangeRecord,
  mustPass: boolean,
  now: Date,
): { readonly isHeldBack: boolean; readonly record: ChangeRecord } {
  const clearAt = before.changesClearAt?.getTime();
  const taken = takeCell(clearAt, now.getTime(), CHANGES);
  if (taken.waitMs === 0) {
    const isCalm = clearAt === undefined || clearAt <= now.getTime();
    const flappingSince = isCalm ? null : before.flappingSince;
    return { isHeldBack: false, record: { changesClearAt: new Date(taken.clearAt), flappingSince } };
  }
  if (mustPass) return { isHeldBack: false, record: before };
  return { isHeldBack: true, record: { ...before, flappingSince: before.flappingSince ?? now } };
}
