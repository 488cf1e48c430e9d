import type { RegistrationView } from '../users/registration/registration.view.js';
import type { CaseView, WaitsView } from './case.view.js';
import { mostUrgent, type Waiting } from './waits.rules.js';

type KnownRegistration = Pick<
  RegistrationView,
  'id' | 'status' | 'lastError' | 'updatedAt' | 'nextAttemptAt'
>;

/**
 * Returns who is waited for while a customer has no grid location. `registration` is null if the user has none, for example because
 * retention has deleted it.
 */
export function waitOfRegistration(registration: KnownRegistration | null): Waiting {
  const { id, status, lastError, updatedAt, nextAttemptAt } = registration ?? UNKNOWN;
  return {
    state: status,
    kind: 'registration',
    subject: { id },
    since: updatedAt,
    usuallyUntil: nextAttemptAt,
    evidence: { lastError },
  };
}

const UNKNOWN = {
  id: '',
  status: 'registered',
  lastError: null,
  updatedAt: null,
  nextAttemptAt: null,
} as const;

type KnownCase = WaitsView & Pick<CaseView, 'gridLocationId'>;

/**
 * Returns who is waited for first: the most urgent of the cases and of the registration. The registration counts only if it is stalled, or
 * if there is no case.
 */
export function decideCustomer(registration: WaitsView, cases: readonly KnownCase[]): WaitsView {
  const isRegistration = cases.length === 0 || registration.stalled !== null;
  const first = mostUrgent<WaitsView | KnownCase>([...(isRegistration ? [registration] : []), ...cases])!;
  const { waitsFor, why, since, usuallyUntil, before, remedies, stalled } = first;
  const waiting = cases.filter((each) => each.waitsFor !== 'nobody').length;
  const whose =
    'gridLocationId' in first && cases.length > 1
      ? `${waiting} of ${cases.length} grid locations wait, the most urgent is ${first.gridLocationId}: `
      : '';
  const all = `All ${cases.length} grid locations of the customer are online.`;
  const reason = whose !== '' && waiting === 0 ? all : whose + why;
  return { waitsFor, why: reason, since, usuallyUntil, before, remedies, stalled };
}

/** Returns the brands that are expected at some locations, or of their sessions, each once. */
export const brandsOf = (cases: readonly Pick<CaseView, 'expected' | 'sessions'>[]): string[] => [
  ...new Set(
    cases.flatMap(({ expected, sessions }) => [
      ...expected.brands,
      ...sessions.flatMap(({ brand }) => brand ?? []),
    ]),
  ),
];
