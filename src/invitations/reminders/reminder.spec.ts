import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import type { InvitationState } from '../invitation.rules.js';
import {
  afterQuietHours,
  nextReminderAt,
  planReminder,
  reminderNow,
  scheduleOf,
  secondsToReminder,
} from './reminder.rules.js';
import type { RemindedInvitation, Reminder, ReminderSchedule } from './reminder.rules.js';

const ZONE = 'Europe/Brussels';
const local = (text: string, zone = ZONE) => DateTime.fromISO(text, { zone }).toJSDate();
const localText = (at: Date | null) =>
  at && DateTime.fromJSDate(at, { zone: ZONE }).toFormat('yyyy-MM-dd HH:mm');
const hoursBetween = (one: Date, other: Date) => (other.getTime() - one.getTime()) / 3_600_000;

const SCHEDULE = scheduleOf([48, 120, 240], ZONE, '20:00-08:00');
const CREATED = local('2026-06-01T10:00');
const INVITATION: RemindedInvitation = {
  createdAt: CREATED,
  openedAt: null,
  startedAt: null,
  wishedAt: null,
  wishDueAt: null,
  wishFailedAt: null,
  recoveredAt: null,
  awaits: 'start',
  expiresAt: local('2026-09-01T10:00'),
  remindersSent: 0,
  remindedAt: null,
  bouncedAt: null,
};

/** Plans like a worker that is away until `from`. Returns every reminder with its local time. */
function remindersOf(
  changes: Partial<RemindedInvitation> = {},
  { schedule = SCHEDULE, from = INVITATION.createdAt }: { schedule?: ReminderSchedule; from?: Date } = {},
) {
  let invitation = { ...INVITATION, ...changes };
  const reminders: [string | null, Reminder['attempt'], Reminder['cause']][] = [];
  for (let now: Date | null = from; now !== null;) {
    const { reminder, dueAt } = planReminder(invitation, schedule, now);
    if (reminder !== null) {
      reminders.push([localText(now), reminder.attempt, reminder.cause]);
      invitation = { ...invitation, remindersSent: reminder.attempt, remindedAt: now };
    }
    now = dueAt;
  }
  return reminders;
}

describe('reminders', () => {
  it('are due after each of the hours, and once more a day before the invitation expires', () => {
    expect(remindersOf()).toEqual([
      ['2026-06-03 10:00', 1, 'never_opened'],
      ['2026-06-06 10:00', 2, 'never_opened'],
      ['2026-06-11 10:00', 3, 'never_opened'],
      ['2026-08-31 10:00', 4, 'expiring_soon'],
    ]);
    const { reminder } = planReminder(INVITATION, SCHEDULE, local('2026-06-03T10:00'));
    expect(reminder).toEqual({ attempt: 1, attempts: 4, cause: 'never_opened' });
  });

  it('tell an owner who had to wait, once, that the start is taken', () => {
    const at = (text: string) => ({ recoveredAt: local(text), wishedAt: local('2026-06-02T09:00') });
    expect(remindersOf(at('2026-06-02T12:00')).slice(0, 2)).toEqual([
      ['2026-06-02 12:00', 1, 'recovered'],
      ['2026-06-03 12:00', 2, 'never_opened'],
    ]);
    // An owner who has left the page open continues within seconds.
    const atOnce = { ...INVITATION, ...at('2026-06-02T12:00') };
    expect(planReminder(atOnce, SCHEDULE, local('2026-06-02T12:00:29')).reminder).toBeNull();
    expect(remindersOf(at('2026-06-02T22:00'))[0]).toEqual(['2026-06-03 08:00', 1, 'recovered']);
    // The owner has continued since, or the start waits again.
    const continued = { ...at('2026-06-02T12:00'), wishedAt: local('2026-06-02T12:00') };
    expect(remindersOf(continued).map(([, , cause]) => cause)).not.toContain('recovered');
    const waits = planReminder(
      { ...INVITATION, ...at('2026-06-02T12:00'), wishDueAt: local('2026-06-02T13:00') },
      SCHEDULE,
      local('2026-06-02T12:10'),
    );
    expect(waits.reminder).toBeNull();
    expect(remindersOf({ ...at('2026-06-02T12:00'), remindersSent: 4 })).toEqual([
      ['2026-06-02 12:00', 5, 'recovered'],
    ]);
    // It would be due at the end of the quiet hours.
    expect(remindersOf({ ...at('2026-06-02T22:00'), expiresAt: local('2026-06-03T08:00') })).toEqual([]);
    for (const [attempt, attempts] of [
      [1, 4],
      [5, 5],
    ] as const) {
      const recovered = { ...INVITATION, ...at('2026-06-02T12:00'), remindersSent: attempt - 1 };
      const { reminder } = planReminder(recovered, SCHEDULE, local('2026-06-02T13:00'));
      expect(reminder).toEqual({ attempt, attempts, cause: 'recovered' });
    }
  });

  it('pause while the last message has come back, until a step of the owner or another message', () => {
    const bounced = { bouncedAt: local('2026-06-01T12:00') };
    expect(remindersOf(bounced)).toEqual([]);
    const now = local('2026-06-03T10:00');
    const again = { reminder: null, dueAt: local('2026-06-04T10:00') };
    expect(planReminder({ ...INVITATION, ...bounced }, SCHEDULE, now)).toEqual(again);
    const nextOf = (facts: Partial<RemindedInvitation> & { readonly state?: InvitationState } = {}) =>
      localText(
        nextReminderAt({ ...INVITATION, state: 'invited', ...facts }, SCHEDULE, local('2026-06-02T10:00')),
      );
    expect([nextOf(), nextOf(bounced), nextOf({ state: 'revoked' })]).toEqual([
      '2026-06-03 10:00',
      null,
      null,
    ]);
    const overdue = local('2026-06-03T11:00');
    expect(nextReminderAt({ ...INVITATION, state: 'invited' }, SCHEDULE, overdue)).toEqual(overdue);
    const never = scheduleOf([], ZONE, 'off');
    expect(nextReminderAt({ ...INVITATION, state: 'invited' }, never, overdue)).toBeNull();
    const opened = { ...bounced, openedAt: local('2026-06-01T13:00') };
    expect(remindersOf(opened)[0]).toEqual(['2026-06-03 10:00', 1, 'opened_not_started']);
    expect(remindersOf({}, { from: local('2026-06-07T10:00') })[0]).toEqual([
      '2026-06-07 10:00',
      1,
      'never_opened',
    ]);
  });

  it('may be due within the day of the creation', () => {
    expect(remindersOf({}, { schedule: scheduleOf([4], ZONE, 'off') })).toEqual([
      ['2026-06-01 14:00', 1, 'never_opened'],
      ['2026-08-31 10:00', 2, 'expiring_soon'],
    ]);
  });

  it('say where the owner stands', () => {
    const openedAt = local('2026-06-01T11:00');
    const causesOf = (steps: object) => remindersOf(steps).map(([, , cause]) => cause);
    const [opened, started] = ['opened_not_started', 'started_not_completed'];
    expect(causesOf({ openedAt })).toEqual([opened, opened, opened, 'expiring_soon']);
    expect(causesOf({ openedAt, startedAt: openedAt })).toEqual([started, started, started, 'expiring_soon']);
  });

  it('end with a last call, in the place of the hours after it, but not before the first of the hours', () => {
    expect(remindersOf({ expiresAt: local('2026-06-06T09:00') })).toEqual([
      ['2026-06-03 10:00', 1, 'never_opened'],
      ['2026-06-05 09:00', 2, 'expiring_soon'],
    ]);
    expect(remindersOf({ expiresAt: local('2026-06-03T22:00') })).toEqual([
      ['2026-06-03 10:00', 1, 'expiring_soon'],
    ]);
    expect(remindersOf({ expiresAt: local('2026-06-03T10:00') })).toEqual([]);
    const reminded = local('2026-08-31T10:00');
    expect(remindersOf({ remindersSent: 1, remindedAt: reminded }, { from: reminded })).toEqual([]);
    const short = { expiresAt: local('2026-06-04T08:00'), createdAt: local('2026-06-01T20:00') };
    expect(remindersOf(short)).toEqual([]);
  });

  it('stop while the owner has nothing to do', () => {
    expect(remindersOf({ awaits: 'installation' })).toEqual([]);
    expect(remindersOf({ wishFailedAt: local('2026-06-02T10:00') })).toEqual([]);
  });

  it.each(['openedAt', 'startedAt', 'wishedAt', 'remindedAt'] as const)(
    'are not due within 24 hours of %s',
    (step) => {
      const at = local('2026-06-03T10:30');
      const changes = step === 'remindedAt' ? { remindersSent: 1, remindedAt: at } : { [step]: at };
      const schedule = scheduleOf([48, 72, 96], ZONE, 'off');
      const [first] = remindersOf(changes, { schedule, from: at });
      expect(first?.[0]).toBe('2026-06-04 10:30');
    },
  );

  it('are not due while the owner waits for us, nor for a day after', () => {
    const now = local('2026-06-20T10:00');
    const waiting = { ...INVITATION, openedAt: CREATED, wishedAt: CREATED, wishDueAt: CREATED };
    const { reminder, dueAt } = planReminder(waiting, SCHEDULE, now);
    expect([reminder, localText(dueAt)]).toEqual([null, '2026-06-21 10:00']);
  });

  it('that no worker announced make one reminder', () => {
    expect(remindersOf({}, { from: local('2026-06-20T10:00') })).toEqual([
      ['2026-06-20 10:00', 1, 'never_opened'],
      ['2026-08-31 10:00', 2, 'expiring_soon'],
    ]);
    expect(remindersOf({}, { from: local('2026-06-06T09:00') })).toEqual([
      ['2026-06-06 09:00', 1, 'never_opened'],
      ['2026-06-07 09:00', 2, 'never_opened'],
      ['2026-06-11 10:00', 3, 'never_opened'],
      ['2026-08-31 10:00', 4, 'expiring_soon'],
    ]);
  });

  it('wait for the end of the quiet hours if a worker comes back within them', () => {
    expect(remindersOf({}, { from: local('2026-06-20T23:00') })[0]?.[0]).toBe('2026-06-21 08:00');
  });

  it('follow a changed schedule when they are due', () => {
    const changes = { remindersSent: 1, remindedAt: local('2026-06-03T10:00') };
    const from = local('2026-06-06T10:00');
    expect(remindersOf(changes, { schedule: scheduleOf([480, 168, 0, 168], ZONE, 'off'), from })).toEqual([
      ['2026-06-08 10:00', 2, 'never_opened'],
      ['2026-06-21 10:00', 3, 'never_opened'],
    ]);
    expect(remindersOf(changes, { schedule: scheduleOf([48], ZONE, 'off'), from })).toEqual([
      ['2026-08-31 10:00', 2, 'expiring_soon'],
    ]);
  });

  it('never exceed the cap, come within 24 hours of another, within quiet hours, or after the expiry', () => {
    const hours = fc.integer({ min: 0, max: 24 * 40 });
    fc.assert(
      fc.property(
        hours,
        hours,
        fc.integer({ min: 0, max: 365 * 24 }),
        fc.array(hours),
        (ttl, opened, start, away) => {
          const after = (h: number) => new Date(createdAt.getTime() + h * 3_600_000);
          const createdAt = new Date(local('2026-01-01T00:00').getTime() + start * 3_600_000);
          let invitation = { ...INVITATION, createdAt, expiresAt: after(ttl), openedAt: after(opened) };
          const sent: Date[] = [];
          let planAt: Date | null = createdAt;
          for (const hour of [...away, ...Array(20).fill(0)]) {
            if (planAt === null) break;
            const now: Date = new Date(planAt.getTime() + (hour % 50) * 3_600_000);
            const { reminder, dueAt } = planReminder(invitation, SCHEDULE, now);
            planAt = dueAt;
            if (dueAt !== null) expect(dueAt > now).toBe(true);
            if (reminder === null) continue;
            expect(hoursBetween(sent.at(-1) ?? createdAt, now)).toBeGreaterThanOrEqual(24);
            expect(now < invitation.expiresAt).toBe(true);
            expect(afterQuietHours(now, SCHEDULE)).toEqual(now);
            sent.push(now);
            expect(reminder.attempt).toBe(sent.length);
            invitation = { ...invitation, remindersSent: reminder.attempt, remindedAt: now };
          }
          expect(planAt).toBeNull();
          expect(sent.length).toBeLessThanOrEqual(4);
        },
      ),
    );
  });
});

it.each([
  ['2026-08-31T09:59', {}, { attempt: 1, attempts: 4, cause: 'never_opened' }],
  ['2026-08-31T10:00', {}, { attempt: 1, attempts: 4, cause: 'expiring_soon' }],
  ['2026-06-02T10:00', { remindersSent: 4 }, { attempt: 5, attempts: 5, cause: 'never_opened' }],
])('a reminder that a person sends at %s of an invitation with %j is %j', (at, facts, reminder) =>
  expect(reminderNow({ ...INVITATION, ...facts }, SCHEDULE, local(at))).toEqual(reminder),
);

it.each([
  [null, 0],
  ['2026-06-02T10:00:00.001', 3_601],
  ['2026-06-02T09:59:59.999', 3_600],
  ['2026-06-02T09:00', 0],
  ['2026-06-01T09:00', 0],
])('after a reminder at %s, a person waits for %i seconds until the next', (at, seconds) => {
  const invitation = { remindedAt: at === null ? null : local(at) };
  expect(secondsToReminder(invitation, local('2026-06-02T10:00'))).toBe(seconds);
});

describe('quiet hours', () => {
  const endOf = (text: string, quiet: string) =>
    afterQuietHours(local(text), scheduleOf([24], ZONE, quiet)).toISOString();

  it.each([
    ['an evening', '20:00-08:00', '2026-06-03T21:30', '2026-06-04T06:00:00.000Z'],
    ['the night', '20:00-08:00', '2026-06-04T01:30', '2026-06-04T06:00:00.000Z'],
    ['their first minute', '20:00-08:00', '2026-06-03T20:00', '2026-06-04T06:00:00.000Z'],
    ['their end', '20:00-08:00', '2026-06-04T08:00', '2026-06-04T06:00:00.000Z'],
    ['the day', '20:00-08:00', '2026-06-03T19:59', '2026-06-03T17:59:00.000Z'],
    ['noon', '12:00-14:00', '2026-06-03T13:30', '2026-06-03T12:00:00.000Z'],
    ['noon at its first minute', '12:00-14:00', '2026-06-03T12:00', '2026-06-03T12:00:00.000Z'],
    ['before noon', '12:00-14:00', '2026-06-03T11:30', '2026-06-03T09:30:00.000Z'],
    ['any time, if there are none', 'off', '2026-06-03T23:00', '2026-06-03T21:00:00.000Z'],
    ['the night to summer time', '20:00-08:00', '2026-03-28T21:00', '2026-03-29T06:00:00.000Z'],
    ['the night to winter time', '20:00-08:00', '2026-10-24T21:00', '2026-10-25T07:00:00.000Z'],
    // On 29 March 2026, 02:30 does not exist; on 25 October 2026, it exists twice.
    ['a night whose end is skipped', '22:00-02:30', '2026-03-28T23:00', '2026-03-29T01:30:00.000Z'],
    ['a night before a skipped day', '02:45-02:15', '2026-03-29T01:00', '2026-03-30T00:15:00.000Z'],
    ['a night whose end comes twice', '22:00-02:30', '2026-10-24T23:00', '2026-10-25T01:30:00.000Z'],
  ])('end in local time: %s', (_, quiet, at, end) => {
    expect(endOf(at, quiet)).toBe(end);
  });

  it('end the next morning, whenever the clocks of any time zone change', () => {
    const months = Array.from({ length: 13 }, (_, month) => DateTime.utc(2026).plus({ months: month }));
    const offsetsOf = (zone: string) => months.map((month) => month.setZone(zone).offset);
    // One zone of those whose clocks agree.
    const zones = new Map(
      Intl.supportedValuesOf('timeZone').map((zone) => [offsetsOf(zone).join(), zone] as const),
    );
    const nights = [...zones.values()].flatMap((zone) => {
      const offsets = offsetsOf(zone);
      return months
        .filter((_, month) => month < 12 && offsets[month] !== offsets[month + 1])
        .flatMap((month) =>
          Array.from({ length: 31 }, (_, day) => [zone, month.plus({ days: day })] as const),
        );
    });
    const wrong = nights.flatMap(([zone, date]) => {
      const night = { ...SCHEDULE, timeZone: zone, quietHours: { from: 21 * 60, to: 8 * 60 } };
      const at = DateTime.fromISO(`${date.toISODate()}T23:30`, { zone });
      const end = DateTime.fromJSDate(afterQuietHours(at.toJSDate(), night), { zone });
      // If the clocks skip 23:30, `at` lies after midnight.
      const expected = at.hour === 23 ? date.plus({ days: 1 }) : at;
      const found = end.toFormat('yyyy-MM-dd HH:mm');
      return found === `${expected.toISODate()} 08:00` ? [] : [`${zone} ${at.toISO()}: ${found}`];
    });
    expect(zones.size).toBeGreaterThan(30);
    expect(wrong).toEqual([]);
  });

  it('never end within themselves, or before the time that is moved', () => {
    const zones = fc.constantFrom(
      ZONE,
      'America/Santiago',
      'America/Nuuk',
      'America/Havana',
      'Africa/Cairo',
      'Australia/Lord_Howe',
      'UTC',
    );
    const time = fc
      .integer({ min: 0, max: 1439 })
      .map((m) => `${String(Math.floor(m / 60)).padStart(2, '0')}:${String(m % 60).padStart(2, '0')}`);
    fc.assert(
      fc.property(zones, time, time, fc.integer({ min: 0, max: 366 * 1440 }), (zone, from, to, minute) => {
        fc.pre(from !== to);
        const schedule = scheduleOf([24], zone, `${from}-${to}`);
        const at = new Date(Date.UTC(2026, 0, 1) + minute * 60_000);
        const moved = afterQuietHours(at, schedule);
        expect(moved >= at).toBe(true);
        expect(afterQuietHours(moved, schedule)).toEqual(moved);
        expect(hoursBetween(at, moved)).toBeLessThanOrEqual(49);
      }),
      { numRuns: 5_000 },
    );
  });
});
