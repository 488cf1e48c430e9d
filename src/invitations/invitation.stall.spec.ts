import { describe, expect, it } from '@jest/globals';
import type { Environment } from '../platform/env/environment.js';
import { textOf } from '../stalls/cause.rules.js';
import { later } from '../stalls/look.rules.js';
import { changeConflict, reminderConflict, type LockedInvitation } from './invitation.rules.js';
import { INVITATION_CAUSES, invitationAges, stallOfInvitation } from './invitation.stall.rules.js';

const NOW = new Date('2026-06-01T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const ago = (hours: number) => later(NOW, -hours * HOUR_MS);
const AGES = invitationAges({
  STALLED_INVITATION_HOURS: 72,
  STALLED_OWNER_HOURS: 4,
  STALLED_INSTALLATION_HOURS: 48,
} as Environment);

type Known = Parameters<typeof stallOfInvitation>[0];
const INVITED: Known = {
  state: 'invited',
  awaits: 'start',
  awaitsSince: ago(80),
  createdAt: ago(80),
  openedAt: null,
  startedAt: null,
  wishedAt: null,
  wishDueAt: null,
  wishFailedAt: null,
  bouncedAt: null,
  bouncedChannel: null,
  isReplaced: false,
  renewalRequestedAt: null,
  isRenewed: false,
  expiresAt: later(ago(80), 1_000 * HOUR_MS),
  accessWithdrawnAt: null,
  mayBeAccessed: false,
  isServed: true,
};
const soonFrom = later(INVITED.expiresAt, -100 * HOUR_MS);
const opened: Partial<Known> = { state: 'opened', openedAt: ago(73) };
const started: Partial<Known> = {
  state: 'started',
  awaits: 'finish',
  awaitsSince: ago(9),
  startedAt: ago(5),
};
const wish: Partial<Known> = { wishedAt: ago(0.25), wishDueAt: later(NOW, 5) };
const done: Partial<Known> = { state: 'owner_done', awaits: 'installation', awaitsSince: ago(48) };
const stall = (cause: string, since: Date, hours: number) => ({
  cause,
  since,
  evidence: { thresholdSeconds: hours * 3_600 },
});
const unreachable = stall('remote_unreachable', ago(0.25), 0.25);
const asked = { renewalRequestedAt: ago(1) };
const renewal = { cause: 'renewal_requested', since: ago(1), evidence: {} };
const nearItsEnd = { createdAt: ago(99), expiresAt: later(NOW, HOUR_MS) };
const expiring = {
  cause: 'expiring_soon',
  since: later(NOW, -9 * HOUR_MS),
  evidence: { expiresAt: nearItsEnd.expiresAt.toISOString() },
};

describe('an invitation is stalled', () => {
  it.each<[string, Partial<Known>, object | null, Date | null]>([
    [
      'while the owner has withdrawn the consent and the installation may be accessed, before all else',
      { ...wish, ...asked, state: 'revoked', accessWithdrawnAt: ago(3) },
      { cause: 'consent_withdrawn', since: ago(3), evidence: {} },
      later(NOW, HOUR_MS),
    ],
    [
      'perhaps later, once the consent is withdrawn and a session may still come online',
      { ...wish, state: 'revoked', mayBeAccessed: true },
      null,
      later(NOW, HOUR_MS),
    ],
    [
      'while its message has come back, before all that the owner should do',
      { ...nearItsEnd, bouncedAt: ago(1), bouncedChannel: 'sms' },
      { cause: 'unreachable', since: ago(1), evidence: { channel: 'sms' } },
      nearItsEnd.expiresAt,
    ],
    [
      'while its message has come back, also if the owner had opened it before',
      { ...opened, bouncedAt: ago(73), bouncedChannel: 'sms' },
      { cause: 'unreachable', since: ago(73), evidence: { channel: 'sms' } },
      INVITED.expiresAt,
    ],
    [
      'by the step of an owner who has the link all the same',
      { ...opened, bouncedAt: ago(74), bouncedChannel: 'email' },
      stall('opened_not_started', ago(73), 72),
      soonFrom,
    ],
    [
      'not by a message once the owner is done',
      { ...done, bouncedAt: ago(1), bouncedChannel: 'email' },
      stall('completed_not_online', ago(48), 48),
      null,
    ],
    ['if nobody has opened it for days', {}, stall('never_opened', ago(80), 72), soonFrom],
    [
      'from the end of its days',
      { createdAt: ago(72), expiresAt: ago(-928) },
      stall('never_opened', ago(72), 72),
      ago(-828),
    ],
    ['not before', { createdAt: ago(71), expiresAt: ago(-929) }, null, later(NOW, HOUR_MS)],
    ['if it was opened, and not started', opened, stall('opened_not_started', ago(73), 72), soonFrom],
    ['not while the owner has days', { ...opened, openedAt: ago(71) }, null, later(NOW, HOUR_MS)],
    ['if it was started, and not completed', started, stall('started_not_completed', ago(5), 4), soonFrom],
    ['not while the owner has hours', { ...started, startedAt: ago(3) }, null, later(NOW, HOUR_MS)],
    [
      'since the next step, if it was started before',
      { ...started, awaitsSince: ago(4.5) },
      stall('started_not_completed', ago(4.5), 4),
      soonFrom,
    ],
    ['if it soon expires', nearItsEnd, expiring, nearItsEnd.expiresAt],
    ['not once its date has passed', { expiresAt: NOW }, null, null],
    [
      'as before, if its date has passed after the owner has started',
      { ...started, createdAt: ago(99), expiresAt: NOW },
      { ...expiring, since: ago(9.9), evidence: { expiresAt: NOW.toISOString() } },
      null,
    ],
    [
      'not by its date, if it was finished without a start',
      { ...started, startedAt: null, expiresAt: NOW },
      null,
      null,
    ],
    ['if the start is not taken for a quarter of an hour', wish, unreachable, later(NOW, 60_000)],
    ['not before', { ...wish, wishedAt: ago(0.2) }, null, later(NOW, 60_000)],
    [
      'since the next attempt, if nobody knows when the owner clicked',
      { ...wish, wishedAt: null, wishDueAt: ago(0.25) },
      unreachable,
      later(NOW, 60_000),
    ],
    ['not while the remote service takes no starts', { ...wish, isServed: false }, null, later(NOW, 60_000)],
    ['not by a start that waits past its date', { ...wish, expiresAt: NOW }, null, later(NOW, 60_000)],
    [
      'if the start was given up',
      { wishFailedAt: ago(1) },
      { cause: 'remote_unreachable', since: ago(1), evidence: { isGivenUp: true } },
      INVITED.expiresAt,
    ],
    ['not by a start that was given up, past its date', { wishFailedAt: ago(1), expiresAt: NOW }, null, null],
    ['if the installation is late', done, stall('completed_not_online', ago(48), 48), null],
    ['not before', { ...done, awaitsSince: ago(47) }, null, later(NOW, HOUR_MS)],
    [
      'by the installation even past its date',
      { ...done, expiresAt: NOW },
      stall('completed_not_online', ago(48), 48),
      null,
    ],
    ['not once it is online', { state: 'online' }, null, null],
    ['not once it is expired', { state: 'expired' }, null, null],
    ['not once it is revoked', { state: 'revoked' }, null, null],
    ['for 30 days if a new link is asked for', { state: 'expired', ...asked }, renewal, ago(-30 * 24 + 1)],
    ['not after these', { state: 'expired', renewalRequestedAt: ago(30 * 24) }, null, null],
    ['not once the tenant has invited again', { state: 'expired', ...asked, isRenewed: true }, null, null],
    [
      'if the link is of an invitation that was declined and replaced',
      { state: 'declined', isReplaced: true, ...asked },
      renewal,
      ago(-30 * 24 + 1),
    ],
    ['not if it was only declined', { state: 'declined', ...asked }, null, null],
    ['not if it was revoked', { state: 'revoked', isReplaced: true, ...asked }, null, null],
  ])('%s', (_, facts, found, lookAgainAt) => {
    expect(stallOfInvitation({ ...INVITED, ...facts }, AGES, NOW)).toEqual({ stall: found, lookAgainAt });
  });

  it.each([
    ['remote_unreachable', { isGivenUp: true }, 'refused or given up'],
    ['remote_unreachable', { isGivenUp: false }, 'not taken the start yet'],
    ['remote_unreachable', {}, 'not taken the start yet'],
    ['expiring_soon', { expiresAt: '2026-06-02' }, 'expires at 2026-06-02'],
    ['never_opened', { thresholdSeconds: 72 * 3_600 }, 'within 3 days.'],
    ['never_opened', { thresholdSeconds: 3_600 }, 'within 1 day.'],
  ] as const)('and says why: %s %j', (cause, evidence, text) => {
    expect(textOf(INVITATION_CAUSES[cause], evidence)).toContain(text);
  });
});

it.each<[LockedInvitation['state'], LockedInvitation['awaits'], string | null, string | null]>([
  ['invited', 'start', null, null],
  ['opened', 'finish', null, null],
  ['owner_done', 'installation', null, 'The owner has done all'],
  ['expired', 'start', 'The invitation has expired', 'The invitation has expired'],
  ['expired', 'installation', 'The invitation has expired', 'The invitation has expired'],
  ['revoked', 'start', 'The invitation is revoked', 'The invitation is revoked'],
  ['online', 'installation', 'The installation of the invitation is online', 'The installation of the'],
])(
  'an invitation that is %s and awaits %s is not changed: %s, nor reminded of: %s',
  (state, awaits, ...why) => {
    const begins = (text: string | null) =>
      text === null ? null : (expect.stringMatching(`^${text}`) as unknown);
    const invitation = { state, awaits, wishDueAt: null };
    expect([changeConflict(invitation, false), reminderConflict(invitation)]).toEqual(why.map(begins));
    expect(changeConflict(invitation, true)).toEqual(state === 'expired' ? null : begins(why[0]));
    const waiting = reminderConflict({ ...invitation, wishDueAt: NOW });
    expect(waiting).toEqual(begins(why[1] ?? 'The owner has clicked'));
  },
);
