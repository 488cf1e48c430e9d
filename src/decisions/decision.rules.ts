import type { RegistrationStatus } from '../users/registration/registration.rules.js';

export const PERSON_DECISIONS = ['retry', 'discard', 'resolve'] as const;
export type PersonDecision = (typeof PERSON_DECISIONS)[number];

/** The statuses to which a decision applies. No decision applies while a call is in flight. Reasons: docs/registrations.md. */
export const DECIDABLE: Record<PersonDecision, readonly RegistrationStatus[]> = {
  retry: ['pending', 'uncertain', 'rejected'],
  discard: ['pending', 'uncertain', 'rejected'],
  resolve: ['pending', 'uncertain', 'rejected', 'discarded'],
};
