import { counted } from '../platform/counted.rules.js';
import type { Environment } from '../platform/env/environment.js';
import { expiresSoonFrom } from '../onboarding/stalls/session.stall.rules.js';
import { causes, remedy, type Evidence } from '../stalls/cause.rules.js';
import { inSeconds, later, look, type Candidate, type Look } from '../stalls/look.rules.js';
import { LIVE, type Channel, type InvitationFacts, type StepFacts } from './invitation.rules.js';

const days = ({ thresholdSeconds }: Evidence): string =>
  counted(Math.max(1, Math.round(Number(thresholdSeconds) / 86_400)), 'day', 'days');

const remind = remedy('remindOwner', 'Remind the owner now');
const prolong = remedy('changeInvitation', 'Prolong it');
const readLink = remedy('readInvitationLink', 'Read the link');

/**
 * Why an invitation does not continue by itself. Sessions have causes of their own; these are for owners who have no open session, or who
 * wait for us.
 */
export const INVITATION_CAUSES = causes({
  consent_withdrawn: {
    waitsFor: 'tenant',
    urgency: 'now',
    title: 'The owner has withdrawn the consent, and the installation may still be accessed.',
    before: 'Ask the provider to disconnect the installation: no operation of the interface ends a session.',
    remedies: [
      remedy('revokeInvitation', 'The provider has disconnected it', {
        confirm: 'The link stops working, so the owner cannot agree again by it.',
      }),
    ],
  },
  remote_unreachable: {
    waitsFor: 'remote_service',
    urgency: 'now',
    title: 'The owner has clicked, and the remote service has not taken the start.',
    text: ({ isGivenUp }) =>
      isGivenUp === true
        ? 'The owner has clicked, and the start was refused or given up.'
        : 'The owner has clicked, and the remote service has not taken the start yet.',
    before: 'Ask the owner to follow the link of the invitation, and to try again.',
    remedies: [],
  },
  completed_not_online: {
    waitsFor: 'installation',
    urgency: 'soon',
    title: 'The owner is done, and the installation is later than usual.',
    before: 'Ask the installer or the provider.',
    remedies: [],
  },
  unreachable: {
    waitsFor: 'tenant',
    urgency: 'soon',
    title: 'The message with the link has come back, so the owner does not have it.',
    text: ({ channel }) =>
      `The message with the link (${String(channel)}) has come back, so the owner does not have it.`,
    before: 'Correct the address of the owner, and send the link again or in another way.',
    remedies: [
      readLink,
      remedy('recordInvitationMessage', 'It is sent in another way', {
        body: () => ({ status: 'sent', channel: 'other' }),
      }),
    ],
  },
  renewal_requested: {
    waitsFor: 'tenant',
    urgency: 'soon',
    title: 'The link no longer works, and the person who has it asks for a new one.',
    before: 'Make sure that the person is still the owner.',
    remedies: [
      remedy('createInvitation', 'Invite the owner again', {
        body: ({ gridLocationId }) => ({ gridLocationId }),
      }),
    ],
  },
  expiring_soon: {
    waitsFor: 'owner',
    urgency: 'now',
    title: 'The invitation soon expires, and its owner is not done.',
    text: ({ expiresAt }) => `The invitation expires at ${String(expiresAt)}, and its owner is not done.`,
    before: 'Ask the owner to follow the link of the invitation before that.',
    remedies: [remind, prolong],
  },
  started_not_completed: {
    waitsFor: 'owner',
    urgency: 'later',
    title: 'The owner has begun, and has to begin again, to finish, or to connect the next brand.',
    before: 'Ask the owner to follow the link of the invitation again.',
    remedies: [remind],
  },
  never_opened: {
    waitsFor: 'owner',
    urgency: 'later',
    title: 'Nobody has opened the page of the invitation.',
    text: (evidence) => `Nobody has opened the page of the invitation within ${days(evidence)}.`,
    before: 'Ask the owner whether the link has arrived, and send it again.',
    remedies: [remind, readLink],
  },
  opened_not_started: {
    waitsFor: 'owner',
    urgency: 'later',
    title: 'The owner has opened the page, and has not started.',
    before: 'Ask the owner what is unclear about the page, and to follow its link again.',
    remedies: [remind, readLink],
  },
});
export type InvitationCause = keyof typeof INVITATION_CAUSES;

/** How long an invitation may wait before it counts as stalled. */
export interface InvitationAges {
  /** How long an invitation may wait to be opened, and after that for the start. */
  readonly startMs: number;
  /** How long an owner who has begun may wait before the next step. */
  readonly ownerMs: number;
  readonly installationMs: number;
  /** How long a start may fail before the invitation counts as stalled: longer than a restart or a short outage. */
  readonly wishMs: number;
}

const HOUR_MS = 3_600_000;
/** For how long the tenant may reply to a request for a new link. */
const RENEWAL_MS = 30 * 24 * HOUR_MS;
/** When to look again whether the remote service takes starts: its trouble and its recovery change no invitation. */
const LOOK_AGAIN_MS = 60_000;

export const invitationAges = (environment: Environment): InvitationAges => ({
  startMs: environment.STALLED_INVITATION_HOURS * HOUR_MS,
  ownerMs: environment.STALLED_OWNER_HOURS * HOUR_MS,
  installationMs: environment.STALLED_INSTALLATION_HOURS * HOUR_MS,
  wishMs: HOUR_MS / 4,
});

type OtherFact = 'state' | 'awaitsSince' | 'isReplaced' | 'renewalRequestedAt';

interface Known extends StepFacts, Pick<InvitationFacts, OtherFact> {
  /** When the owner withdrew the consent, if the installation may still be accessed. */
  readonly accessWithdrawnAt: Date | null;
  /** Whether the consent is withdrawn, and a session may still come online. */
  readonly mayBeAccessed: boolean;
  /** Whether the tenant has invited again since the request for a new link. */
  readonly isRenewed: boolean;
  readonly bouncedChannel: Channel | null;
  /** Whether the remote service takes starts, and the wished brand does not fail. Otherwise, that is the trouble of the deployment. */
  readonly isServed: boolean;
}

/** Returns the cause of the stall if the owner does not take the next step. Reminders name it, too. */
export function causeOfStep({ openedAt, startedAt }: Pick<StepFacts, 'openedAt' | 'startedAt'>) {
  if (startedAt !== null) return 'started_not_completed';
  return openedAt === null ? 'never_opened' : 'opened_not_started';
}

/**
 * Returns whether a failed start is left to the owner: the live link is newer, so that the owner can repeat the start in the page, or the
 * start is repeated after the owner's click. `linkedAt`: when the live invitation was created. Null if there is none.
 */
export const isLeftToOwner = (
  start: { readonly createdAt: Date },
  { linkedAt, wishDueAt }: { readonly linkedAt: Date | null; readonly wishDueAt: Date | null },
): boolean => linkedAt !== null && (wishDueAt !== null || start.createdAt <= linkedAt);

/** Returns whether the last message with the link has come back, and the owner has taken no later step, which shows that the owner has the link. */
export const isUnreachable = ({
  bouncedAt,
  openedAt,
  startedAt,
  wishedAt,
}: Pick<StepFacts, 'bouncedAt' | 'openedAt' | 'startedAt' | 'wishedAt'>): boolean =>
  bouncedAt !== null && [openedAt, startedAt, wishedAt].every((at) => at === null || at <= bouncedAt);

/** Decides whether the tenant has to reply to a request for a new link. */
function stallOfRenewal(
  { state, isReplaced, renewalRequestedAt, isRenewed, mayBeAccessed }: Known,
  now: Date,
): Look<InvitationCause> {
  const isOver = state === 'expired' || (state === 'declined' && isReplaced);
  // A session that comes online does not change an invitation that is over.
  const lookAgainAt = mayBeAccessed ? later(now, HOUR_MS) : null;
  if (!isOver || renewalRequestedAt === null || isRenewed) return look([], now, lookAgainAt);
  const [since, until] = [renewalRequestedAt, later(renewalRequestedAt, RENEWAL_MS)];
  return look([{ cause: 'renewal_requested', since, until, evidence: {} }], now, lookAgainAt);
}

/** Decides why an invitation is stalled, the most important cause first. */
export function stallOfInvitation(invitation: Known, ages: InvitationAges, now: Date): Look<InvitationCause> {
  const { state, awaits, awaitsSince, wishedAt, wishDueAt, wishFailedAt, isServed, accessWithdrawnAt } =
    invitation;
  const { createdAt, openedAt, startedAt, expiresAt, bouncedAt, bouncedChannel } = invitation;
  if (accessWithdrawnAt !== null) {
    const withdrawn = { cause: 'consent_withdrawn', since: accessWithdrawnAt, evidence: {} } as const;
    // The remote service may end the access without a change of the invitation.
    return look([withdrawn], now, later(now, HOUR_MS));
  }
  if (!LIVE.includes(state)) return stallOfRenewal(invitation, now);
  // Past its date, such an invitation is expired, even before the expiry is recorded.
  const endsAtItsDate = awaits === 'start' || (awaits === 'finish' && startedAt === null);
  const until = endsAtItsDate ? { until: expiresAt } : {};
  const after = (cause: InvitationCause, since: Date, ms: number): Candidate<InvitationCause> => ({
    ...{ cause, since, from: later(since, ms), ...until },
    evidence: { thresholdSeconds: inSeconds(ms) },
  });
  if (wishFailedAt !== null) {
    const evidence = { isGivenUp: true };
    return look([{ cause: 'remote_unreachable', since: wishFailedAt, ...until, evidence }], now);
  }
  if (wishDueAt !== null) {
    const wish = after('remote_unreachable', wishedAt ?? wishDueAt, ages.wishMs);
    return look([isServed && wish], now, later(now, LOOK_AGAIN_MS));
  }
  if (awaits === 'installation')
    return look([after('completed_not_online', awaitsSince, ages.installationMs)], now);
  if (bouncedAt !== null && isUnreachable(invitation)) {
    const evidence = { channel: bouncedChannel };
    return look([{ cause: 'unreachable', since: bouncedAt, ...until, evidence }], now);
  }
  const soonFrom = expiresSoonFrom(createdAt, expiresAt);
  const [from, ms] =
    startedAt === null
      ? [openedAt ?? createdAt, ages.startMs]
      : [startedAt > awaitsSince ? startedAt : awaitsSince, ages.ownerMs];
  return look<InvitationCause>(
    [
      {
        ...{ cause: 'expiring_soon', since: soonFrom, ...until },
        evidence: { expiresAt: expiresAt.toISOString() },
      },
      after(causeOfStep(invitation), from, ms),
    ],
    now,
  );
}
