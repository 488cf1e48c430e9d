import { SESSION_CAUSES, startAnother } from '../onboarding/stalls/session.causes.rules.js';
import { START_CAUSES } from '../onboarding/stalls/start.stall.rules.js';
import {
  remedy,
  URGENCIES,
  type Evidence,
  type StallKind,
  type StallSubject,
  type Wait,
  type WaitsFor,
} from '../stalls/cause.rules.js';
import type { StalledView } from '../stalls/stalled.view.js';
import { REGISTRATION_CAUSES } from '../users/registration/registration.stall.rules.js';

/** Declares an ordinary wait. The sentence gets the words ` of BRAND`, or nothing if it is about all brands. */
const wait = (
  waitsFor: WaitsFor,
  sentence: (ofBrand: string, evidence: Evidence) => string,
  more: Partial<Pick<Wait, 'before' | 'remedies'>> = {},
): Wait => ({
  waitsFor,
  title: sentence('', {}),
  text: (evidence) => sentence(evidence.brand === null ? '' : ` of ${String(evidence.brand)}`, evidence),
  remedies: [],
  ...more,
});

/** Returns a cause without its text, which needs evidence: its title is shown instead. */
const untold = ({ text: _, ...cause }: Wait): Wait => cause;

const invite = remedy('createInvitation', 'Invite the owner', {
  body: ({ gridLocationId }) => ({ gridLocationId }),
});
const inverters = ({ present, wanted }: Evidence) =>
  `${String(present)} of ${String(wanted)} ${wanted === 1 ? 'inverter is' : 'inverters are'} online`;

/**
 * Who is waited for in the ordinary way, by the state of a registration or of a grid location. Some states stall at once: between their
 * change and their stall, and after it, they have the words of the cause.
 */
export const WAITS = {
  pending: wait('remote_service', () => 'The registration is not confirmed yet, and is sent by itself.'),
  uncertain: REGISTRATION_CAUSES.uncertain,
  rejected: REGISTRATION_CAUSES.rejected,
  discarded: wait('tenant', () => 'A person has discarded the registration.', {
    remedies: [remedy('registerUser', 'Register the customer anew')],
  }),
  registered: wait('tenant', () => 'The customer is registered without a grid location.', {
    before: 'Ask the provider for the grid locations of the customer.',
  }),
  start_sending: wait('remote_service', (of) => `The start${of} is being sent to the remote service.`),
  start_failed: START_CAUSES.start_failed,
  wished: wait(
    'remote_service',
    () => 'The owner has clicked, and the start is repeated until the remote service takes it.',
  ),
  not_invited: wait('tenant', () => 'Nothing is open, and the owner has no valid invitation.', {
    remedies: [invite],
  }),
  declined: wait('nobody', () => 'The owner has declined the invitation.', {
    before: 'Invite the owner again only if you have reason to.',
    remedies: [invite],
  }),
  invited: wait('owner', () => 'The owner was invited, and has not opened the page.'),
  opened: wait('owner', (of) => `The owner has opened the page, and has not started a session${of}.`),
  over: wait(
    'owner',
    (of) => `The session${of} is over without an inverter online, and the owner can begin again.`,
  ),
  awaiting_owner: wait(
    'owner',
    (of) => `A session${of} was started, and the owner has not finished the web flow.`,
  ),
  awaiting_installation: wait(
    'installation',
    (of) => `The owner has probably finished the web flow${of}, and nothing is online yet.`,
  ),
  lost: untold(SESSION_CAUSES.lost),
  unrecognised: untold(SESSION_CAUSES.unrecognised),
  inverters_awaited: wait(
    'installation',
    (_, evidence) => `${inverters(evidence)}. The session is still read, and more may follow.`,
  ),
  inverters_missing: wait('tenant', (_, evidence) => `${inverters(evidence)}, and the sessions are closed.`, {
    before: 'Ask the owner about the missing inverters.',
    remedies: [startAnother],
  }),
  online: wait('nobody', (_, evidence) => `All is online: ${inverters(evidence)}.`),
} satisfies Readonly<Record<string, Wait>>;

/** An ordinary wait of a registration or of a grid location. */
export interface Waiting {
  readonly state: keyof typeof WAITS;
  /** What the remedies take their arguments from. */
  readonly kind: StallKind;
  readonly subject: StallSubject;
  readonly since: Date | null;
  /** Until when it usually lasts, if that is known. */
  readonly usuallyUntil: Date | null;
  readonly evidence: Evidence;
}

interface Urgent {
  readonly waitsFor: WaitsFor;
  readonly stalled: Pick<StalledView, 'urgency'> | null;
}

/** If several things wait, the first of these counts: a person can act. */
const ORDER: readonly WaitsFor[] = ['us', 'tenant', 'remote_service', 'owner', 'installation', 'nobody'];

const rankOf = ({ waitsFor, stalled }: Urgent): number =>
  (stalled === null ? URGENCIES.length : URGENCIES.indexOf(stalled.urgency)) * ORDER.length +
  ORDER.indexOf(waitsFor);

/** Returns what is most urgent: what is stalled, by its urgency, and then what waits in the ordinary way. */
export const mostUrgent = <T extends Urgent>(all: readonly T[]): T | undefined =>
  all.toSorted((one, other) => rankOf(one) - rankOf(other))[0];

export const mostUrgentStall = (
  parts: readonly { readonly stalled: StalledView | null }[],
): StalledView | null =>
  mostUrgent(
    parts.flatMap(({ stalled }) => (stalled === null ? [] : { waitsFor: stalled.waitsFor, stalled })),
  )?.stalled ?? null;

/** Returns the ordinary wait that counts first. */
export const firstOf = (waits: readonly Waiting[]): Waiting | undefined =>
  mostUrgent(waits.map((each) => ({ each, waitsFor: WAITS[each.state].waitsFor, stalled: null })))?.each;
