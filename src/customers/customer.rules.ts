import type { RegistrationView } from '../users/registration/registration.view.js';
import { decision, mostUrgent, type Decision } from './decision.rules.js';

type KnownRegistration = Pick<RegistrationView, 'id' | 'status' | 'lastError'>;

/** Decides who must act next for a customer: by the cases of its locations, or by its registration if it has no location. */
export function decideCustomer(
  registration: KnownRegistration | null,
  cases: readonly (Decision & { readonly gridLocationId: string })[],
): Decision {
  const urgent = mostUrgent(cases);
  if (urgent === undefined) return decideUnregistered(registration);
  const { waitsFor, why, next, gridLocationId } = urgent;
  if (cases.length === 1) return decision(waitsFor, why, next);
  const waiting = cases.filter((each) => each.waitsFor !== 'nobody').length;
  if (waiting === 0)
    return decision(waitsFor, `All ${cases.length} grid locations of the customer are online.`, next);
  const found = `${waiting} of ${cases.length} grid locations wait, the most urgent is ${gridLocationId}`;
  return decision(waitsFor, `${found}: ${why}`, next);
}

function decideUnregistered(registration: KnownRegistration | null): Decision {
  const { id, status, lastError } = registration ?? { id: '', status: 'registered', lastError: null };
  const path = `/api/v1/registrations/${id}`;
  const because = lastError === null ? '.' : `: ${lastError}.`;
  switch (status) {
    case 'pending':
      return decision(
        'remote_service',
        `The registration is not confirmed yet${because}`,
        'Wait: the registration is sent by itself.',
      );
    case 'uncertain':
      return decision(
        'tenant',
        `It is unknown whether the remote service has registered the customer${because}`,
        `Ask the provider whether the user exists, then decide: POST ${path}/resolve if so, else …/retry or …/discard.`,
      );
    case 'rejected':
      return decision(
        'tenant',
        `The remote service refused the registration${because}`,
        `Remove the cause, then send the registration again: POST ${path}/retry.`,
      );
    case 'discarded':
      return decision(
        'tenant',
        'A person has discarded the registration.',
        'Register the customer anew: POST /api/v1/users.',
      );
    case 'registered':
      return decision(
        'tenant',
        'The customer is registered without a grid location.',
        'Ask the provider for the grid locations of the customer.',
      );
  }
}
