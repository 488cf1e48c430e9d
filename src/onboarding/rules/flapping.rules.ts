import { takeCell } from '../../platform/rate/cell-rate.rules.js';

/** The limit of recorded changes per session: far more than an onboarding needs, and few enough to store. */
const CHANGES = { amount: 30, periodMs: 3_600_000 };

export interface ChangeRecord {
  /** When the full amount of changes is allowed again (`clearAt` in cell-rate.rules.ts). Null before the first change. */
  readonly changesClearAt: Date | null;
  /** The time since which changes are held back. The first change after `changesClearAt` resets it to null. */
  readonly flappingSince: Date | null;
}

/** Counts a change. Returns whether it is recorded now or held back. If `mustPass`, it is always recorded. */
export function countChange(before: ChangeRecord, mustPass: boolean, now: Date) {
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
