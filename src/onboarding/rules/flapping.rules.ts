import { takeCell } from '../../platform/rate/cell-rate.rules.js';

/** How often one session may change what is recorded and announced: far more often than an onboarding needs, and few enough to store. */
const CHANGES = { amount: 30, periodMs: 3_600_000 };

/** The change counter of a session. */
export interface ChangeRecord {
  /** When all changes counted so far are forgotten (see cell-rate.rules.ts); null before the first. */
  readonly changesClearAt: Date | null;
  /** Since when changes are held back. Null again at the first change after all earlier ones are forgotten. */
  readonly flappingSince: Date | null;
}

/** Counts a change. Returns whether it is recorded now or held back. A change that `mustPass` is always recorded. */
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
