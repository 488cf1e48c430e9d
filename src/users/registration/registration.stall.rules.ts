import { causes, remedy, type Evidence } from '../../stalls/cause.rules.js';
import { inSeconds, later, look, type Look } from '../../stalls/look.rules.js';
import type { RegistrationStatus } from './registration.rules.js';

const because = ({ lastError }: Evidence): string => (lastError === null ? '.' : `: ${String(lastError)}.`);

/** Why a registration does not continue by itself. */
export const REGISTRATION_CAUSES = causes({
  uncertain: {
    waitsFor: 'tenant',
    urgency: 'now',
    title: 'Nobody knows whether the remote service has registered the customer.',
    text: (evidence) =>
      `Nobody knows whether the remote service has registered the customer${because(evidence)}`,
    before: 'Ask the provider whether a user with this tenant reference exists.',
    remedies: [
      remedy('resolveRegistration', 'It exists: enter the user object that they confirm'),
      remedy('retryRegistration', 'It does not exist: send it again', {
        confirm: 'If it exists after all, the customer is registered twice.',
      }),
      remedy('discardRegistration', 'Give it up', { confirm: 'The customer is not registered.' }),
    ],
  },
  rejected: {
    waitsFor: 'tenant',
    urgency: 'soon',
    title: 'The remote service refused the registration.',
    text: (evidence) => `The remote service refused the registration${because(evidence)}`,
    before: 'Remove the cause: correct the data of the customer, or ask the provider.',
    remedies: [
      remedy('retryRegistration', 'Send it again'),
      remedy('discardRegistration', 'Give it up', { confirm: 'The customer is not registered.' }),
    ],
  },
  pending_too_long: {
    waitsFor: 'remote_service',
    urgency: 'soon',
    title: 'The registration has been sent in vain for over an hour.',
    text: (evidence) => `The registration has been sent in vain for over an hour${because(evidence)}`,
    remedies: [
      remedy('retryRegistration', 'Send it now'),
      remedy('discardRegistration', 'Give it up', { confirm: 'The customer is not registered.' }),
    ],
  },
});

/** The facts that decide whether a registration is stalled. */
export interface RegistrationFacts {
  readonly status: RegistrationStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly sentAt: Date | null;
  readonly attempts: number;
  readonly lastError: string | null;
  /** Whether its reference has another registration that is live, or a later one that was rejected. */
  readonly isReplaced: boolean;
  /** Whether the remote service takes registrations, and the credentials. If it does not, that is the trouble of the deployment. */
  readonly isServed: boolean;
}

/** How long a registration may be sent in vain. Longer than a restart or a short outage of the remote service. */
const PENDING_MS = 3_600_000;
/** When to look again whether the remote service takes registrations: its trouble and its recovery change no registration. */
const LOOK_AGAIN_MS = 60_000;

export function stallOfRegistration(facts: RegistrationFacts, now: Date): Look {
  const { status, createdAt, updatedAt, sentAt, attempts, lastError, isReplaced, isServed } = facts;
  // What is pending has lost `sentAt`. Its last change is then the end of the last attempt.
  const tried = { attempts, lastAttemptAt: attempts ? (sentAt ?? updatedAt).toISOString() : null, lastError };
  switch (status) {
    case 'uncertain':
      return look([{ cause: 'uncertain', since: sentAt ?? createdAt, evidence: tried }], now);
    case 'rejected':
      return look([!isReplaced && { cause: 'rejected', since: updatedAt, evidence: tried }], now);
    case 'pending': {
      // A registration that was sent once may wait for a campaign, or for a worker.
      if (attempts <= 1) return { stall: null, lookAgainAt: null };
      const from = later(createdAt, PENDING_MS);
      const evidence = { ...tried, thresholdSeconds: inSeconds(PENDING_MS) };
      const lookAgainAt = from > now ? from : later(now, LOOK_AGAIN_MS);
      return look(
        [isServed && { cause: 'pending_too_long', since: createdAt, from, evidence }],
        now,
        lookAgainAt,
      );
    }
    case 'registered':
    case 'discarded':
      return { stall: null, lookAgainAt: null };
  }
}
