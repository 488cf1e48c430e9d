import type { Facts } from './facts.view.js';
import { REASONS_OF_CUSTOMERS } from './reasons/customers.rules.js';
import { REASONS_OF_DATABASE } from './reasons/database.rules.js';
import { REASONS_OF_EVENTS } from './reasons/events.rules.js';
import { REASONS_OF_PROCESSES } from './reasons/processes.rules.js';
import { REASONS_OF_READING } from './reasons/reading.rules.js';
import { SEVERITIES, type Reason, type Settings } from './reasons/reason.js';
import { REASONS_OF_REMOTE } from './reasons/remote.rules.js';

const CATALOGUE = {
  ...REASONS_OF_DATABASE,
  ...REASONS_OF_PROCESSES,
  ...REASONS_OF_REMOTE,
  ...REASONS_OF_READING,
  ...REASONS_OF_EVENTS,
  ...REASONS_OF_CUSTOMERS,
};

export type ReasonCode = keyof typeof CATALOGUE;

/**
 * The reasons why a deployment is degraded, the worst first. The API, the metric of the reasons, their alerts and the console have them from
 * here. A reason needs an entry in a file of reasons/, and its code in a section of docs/operations.md; `npm run alerts` writes its alert.
 */
export const REASONS = Object.fromEntries(
  Object.entries<Reason>(CATALOGUE).sort(
    ([, a], [, b]) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity),
  ),
) as Readonly<Record<ReasonCode, Reason>>;

export const REASON_CODES = Object.keys(REASONS) as ReasonCode[];

/** What the API says about a reason, apart from what is found. */
export const described = (code: ReasonCode) => {
  const { severity, title, runbook, waitsFor, remedies = [] } = REASONS[code];
  return { code, severity, title, runbook: `docs/operations.md#${runbook}`, waitsFor, remedies };
};

interface FoundReason {
  readonly code: ReasonCode;
  readonly detail: string;
  readonly since: Date | null;
}

/**
 * Returns the reasons why the deployment is degraded, the worst first. `sampled`: the beginnings of the reasons in the samples of the last
 * minutes.
 */
export function findReasons(
  facts: Facts,
  settings: Settings,
  sampled: Readonly<Partial<Record<string, Date>>>,
  now: Date,
): FoundReason[] {
  return REASON_CODES.flatMap((code) =>
    [REASONS[code].find(facts, settings)]
      .flat()
      .flatMap((detail) =>
        detail === false ? [] : { code, detail, since: sinceOf(code, facts, sampled[code], now) },
      ),
  );
}

/** Returns since when a reason has been true: the earliest of the beginning by the facts and `sampled`; null if neither is known. */
export function sinceOf(code: ReasonCode, facts: Facts, sampled: Date | undefined, now: Date): Date | null {
  const known = (REASONS[code].began?.(facts) ?? []).filter((each) => each !== 0);
  const times = known.map((each) =>
    typeof each === 'number' ? now.getTime() - each * 1_000 : each.getTime(),
  );
  if (sampled !== undefined) times.push(sampled.getTime());
  return times.length === 0 ? null : new Date(Math.min(...times));
}
