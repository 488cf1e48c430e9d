import { describe, expect, it } from '@jest/globals';
import { textOf, type WaitsFor } from '../stalls/cause.rules.js';
import type { StalledView } from '../stalls/stalled.view.js';
import { decideCase, type Snapshot } from './case.rules.js';
import type { WaitsView } from './case.view.js';
import { brandsOf, decideCustomer, waitOfRegistration } from './customer.rules.js';
import { WAITS } from './waits.rules.js';

const now = new Date('2026-11-26T12:00:00Z');
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000);

type Session = Snapshot['sessions'][number];
type Start = Snapshot['starts'][number];
type Invitation = NonNullable<Snapshot['invitation']>;

const stall = (cause: string, waitsFor: WaitsFor, urgency: StalledView['urgency']): StalledView => ({
  ...{ cause, waitsFor, urgency },
  ...{ since: hoursAgo(5), evidence: {}, text: `Because of ${cause}.`, before: null, remedies: [] },
});
const session = (fields: Partial<Session>): Session => ({
  id: 'session',
  brand: 'acme',
  state: 'awaiting_owner',
  createdAt: hoursAgo(3),
  stateChangedAt: hoursAgo(2),
  expiresAt: hoursAgo(-20),
  supersededAt: null,
  closedAt: null,
  stalled: null,
  inverters: [],
  ...fields,
});
const start = (fields: Partial<Start>): Start => ({
  id: 'start',
  brand: 'acme',
  status: 'failed',
  error: 'refused',
  stalled: null,
  createdAt: hoursAgo(1),
  ...fields,
});
const invitation = (fields: Partial<Invitation> = {}): Invitation => ({
  state: 'invited',
  brands: [],
  expected: { inverters: null },
  createdAt: hoursAgo(72),
  openedAt: null,
  expiresAt: hoursAgo(-240),
  declinedAt: null,
  stalled: null,
  ...fields,
});
const inverters = (count: number, gone = 0): Session['inverters'] =>
  Array.from({ length: count + gone }, (_, at) => ({
    id: `inverter-${at}`,
    missingSince: at < count ? null : hoursAgo(1),
  }));
const online = (fields: Partial<Session> = {}) =>
  session({ state: 'online', inverters: inverters(1), ...fields });

const decide = (known: Partial<Snapshot>) => {
  const { stalled, waiting, ...found } = decideCase(
    {
      usualWait: () => undefined,
      gridLocationId: 'here',
      sessions: [],
      starts: [],
      invitation: undefined,
      earlier: [],
      wishDueAt: null,
      ...known,
    },
    now,
  );
  const wait = WAITS[waiting.state];
  return {
    ...found,
    waitsFor: stalled?.waitsFor ?? wait.waitsFor,
    why: stalled?.text ?? textOf(wait, waiting.evidence),
    since: stalled?.since ?? waiting.since,
    usuallyUntil: waiting.usuallyUntil,
    remedies: stalled
      ? []
      : wait.remedies.map(({ operationId, body }) => [operationId, body?.(waiting.subject)]),
  };
};
const TWO = ['acme', 'sunward'];

type Expected = readonly [why: string, since: number | null, until?: number];
const NOT_INVITED = 'Nothing is open, and the owner has no valid invitation.';

const CASES: Readonly<Partial<Record<WaitsFor, readonly [Partial<Snapshot>, ...Expected][]>>> = {
  owner: [
    [{ invitation: invitation() }, 'The owner was invited, and has not opened the page.', 72, -240],
    [
      { invitation: invitation({ state: 'opened', openedAt: hoursAgo(1), brands: ['acme'] }) },
      'The owner has opened the page, and has not started a session of acme.',
      1,
      -240,
    ],
    [
      { invitation: invitation(), sessions: [session({ state: 'expired' })] },
      'The session is over without an inverter online, and the owner can begin again.',
      2,
      -240,
    ],
    [
      { sessions: [session({})] },
      'A session of acme was started, and the owner has not finished the web flow.',
      3,
      -20,
    ],
    [
      { invitation: invitation({ state: 'started' }), sessions: [session({ expiresAt: hoursAgo(1) })] },
      'A session of acme was started, and the owner has not finished the web flow.',
      3,
      1,
    ],
    [
      {
        invitation: invitation({ state: 'started', brands: TWO, openedAt: hoursAgo(5) }),
        sessions: [online()],
      },
      'The owner has opened the page, and has not started a session of sunward.',
      5,
      -240,
    ],
  ],
  installation: [
    [
      { sessions: [session({ state: 'awaiting_installation', brand: null })] },
      'The owner has probably finished the web flow, and nothing is online yet.',
      2,
    ],
    [
      {
        sessions: [session({ state: 'awaiting_installation' })],
        usualWait: (brand) => (brand === 'acme' ? { p95Seconds: 10_800 } : undefined),
      },
      'The owner has probably finished the web flow of acme, and nothing is online yet.',
      2,
      -1,
    ],
    [
      { invitation: invitation({ state: 'owner_done' }), sessions: [session({ state: 'expired' })] },
      'The owner has probably finished the web flow, and nothing is online yet.',
      2,
    ],
    [
      { invitation: invitation({ expected: { inverters: 2 } }), sessions: [online()] },
      '1 of 2 inverters are online. The session is still read, and more may follow.',
      2,
    ],
    [
      {
        invitation: invitation({ expected: { inverters: 2 } }),
        sessions: [online({ closedAt: hoursAgo(1) }), online()],
      },
      '1 of 2 inverters are online. The session is still read, and more may follow.',
      2,
    ],
  ],
  remote_service: [
    [
      { sessions: [session({ state: 'expired' })], starts: [start({ status: 'sending', error: null })] },
      'The start is being sent to the remote service.',
      1,
    ],
    [
      {
        invitation: invitation({ state: 'opened', openedAt: hoursAgo(1) }),
        wishDueAt: hoursAgo(-1),
        starts: [start({ stalled: stall('start_failed', 'tenant', 'soon') })],
      },
      'The owner has clicked, and the start is repeated until the remote service takes it.',
      null,
    ],
  ],
  tenant: [
    [{}, NOT_INVITED, null],
    [{ invitation: invitation({ state: 'revoked' }) }, NOT_INVITED, null],
    [{ sessions: [session({ state: 'expired' })] }, NOT_INVITED, 2],
    [{ sessions: [session({ closedAt: hoursAgo(1) })] }, NOT_INVITED, 2],
    [{ sessions: [session({ expiresAt: hoursAgo(1) })] }, NOT_INVITED, 2],
    [{ starts: [start({ error: null })], invitation: invitation() }, 'The start failed.', 1],
    [{ starts: [start({})], wishDueAt: hoursAgo(-1) }, 'The start failed: refused.', 1],
    [{ starts: [start({})] }, 'The start failed: refused.', 1],
    [
      { sessions: [session({ state: 'lost', closedAt: hoursAgo(1) })], invitation: invitation() },
      'The remote service no longer knows the session, or refuses it.',
      2,
    ],
    [
      { sessions: [session({ state: 'unrecognised' })], invitation: invitation({ brands: TWO }) },
      'The interface does not describe the flags of the session.',
      2,
    ],
    [
      {
        invitation: invitation({ state: 'online', expected: { inverters: 2 } }),
        sessions: [online({ closedAt: hoursAgo(1) })],
      },
      '1 of 2 inverters are online, and the sessions are closed.',
      2,
    ],
    [
      { sessions: [online({ closedAt: hoursAgo(1), inverters: inverters(1, 1) })] },
      '1 of 2 inverters are online, and the sessions are closed.',
      2,
    ],
  ],
  nobody: [
    [
      {
        invitation: invitation({ state: 'declined', openedAt: hoursAgo(4), declinedAt: hoursAgo(3) }),
        sessions: [session({})],
      },
      'The owner has declined the invitation.',
      3,
    ],
    [{ sessions: [online({ inverters: inverters(2) })] }, 'All is online: 2 of 2 inverters are online.', 2],
    [
      {
        invitation: invitation({ state: 'online', expected: { inverters: 1 } }),
        sessions: [online({ inverters: inverters(1, 1) })],
      },
      'All is online: 1 of 1 inverter is online.',
      2,
    ],
  ],
};

describe('a grid location', () => {
  it.each(
    Object.entries(CASES).flatMap(([waitsFor, cases]) => cases.map((each) => [waitsFor, ...each] as const)),
  )('waits in the ordinary way for %s with %j', (waitsFor, known, why, ...[since, until]) => {
    expect(decide(known)).toMatchObject({
      ...{ waitsFor, why },
      since: since === null ? null : hoursAgo(since),
      usuallyUntil: until === undefined ? null : hoursAgo(until),
    });
  });

  it('waits for whom the most urgent stall of its parts waits, and else for a person first', () => {
    const soon = stall('completed_not_online', 'installation', 'soon');
    const later = stall('never_opened', 'owner', 'later');
    const parts = {
      invitation: invitation({ stalled: later }),
      sessions: [session({ state: 'awaiting_installation', stalled: soon })],
    };
    expect(decide(parts)).toMatchObject({ waitsFor: 'installation', why: soon.text, since: soon.since });
    const failed = { ...parts, starts: [start({ stalled: stall('start_failed', 'tenant', 'soon') })] };
    expect(decide(failed)).toHaveProperty('waitsFor', 'tenant');
    const waits = { ...parts, sessions: [session({ state: 'lost' })] };
    expect(decide(waits)).toHaveProperty('why', later.text);
    const brands = [session({ brand: 'sunward' }), session({ state: 'awaiting_installation' })];
    expect(decide({ sessions: brands })).toHaveProperty('waitsFor', 'owner');
  });

  it('has operations that continue it', () => {
    expect(decide({}).remedies).toEqual([['createInvitation', { gridLocationId: 'here' }]]);
    expect(decide({ starts: [start({})] }).remedies).toEqual([['startSession', {}]]);
    const closed = online({ closedAt: hoursAgo(1), inverters: inverters(1, 1) });
    expect(decide({ sessions: [closed] }).remedies).toEqual([
      ['startSession', { brand: 'acme', reuse: false }],
    ]);
    expect(decide({ invitation: invitation() }).remedies).toEqual([]);
  });

  it('lists what is expected, online and missing', () => {
    const known = {
      invitation: invitation({ brands: TWO, expected: { inverters: 3 } }),
      sessions: [session({ brand: 'sunward' }), online({ inverters: inverters(2) }), online()],
    };
    expect(decide(known)).toMatchObject({
      expected: { brands: TWO, inverters: 3 },
      online: { brands: ['acme'], inverters: 2 },
      missing: { brands: ['sunward'], inverters: 1 },
    });
  });

  it.each([
    [null, 2, null],
    [2, 2, 0],
    [1, 2, 0],
    [3, 2, 1],
  ])('with %s expected inverters, of which %i are online, misses %s', (wanted, present, missing) => {
    const known = {
      invitation: invitation({ expected: { inverters: wanted } }),
      sessions: [online({ brand: null, inverters: inverters(present, 1) })],
    };
    expect(decide(known)).toMatchObject({
      online: { brands: [], inverters: present },
      missing: { brands: [], inverters: missing },
    });
  });

  it('is decided by the session in place of one that it superseded', () => {
    const sessions = [session({}), session({ state: 'lost', supersededAt: hoursAgo(3) })];
    expect(decide({ sessions })).toHaveProperty('waitsFor', 'owner');
    const supersededOnline = [session({}), online({ supersededAt: hoursAgo(3) })];
    expect(decide({ sessions: supersededOnline })).toHaveProperty('waitsFor', 'nobody');
  });

  it('can still be started by an invitation that is newer than the failed start', () => {
    const newer = invitation({ createdAt: hoursAgo(0.5) });
    const failed = start({ stalled: stall('start_failed', 'tenant', 'soon') });
    expect(decide({ starts: [failed], invitation: newer })).toHaveProperty('waitsFor', 'owner');
  });

  it('waits for another brand that the tenant has started, even if none was expected', () => {
    expect(decide({ sessions: [session({ brand: 'sunward' }), online()] })).toMatchObject({
      waitsFor: 'owner',
      why: expect.stringContaining('of sunward'),
    });
  });
});

describe('a customer', () => {
  const at = (gridLocationId: string, waitsFor: WaitsFor, stalled: StalledView | null = null) => ({
    gridLocationId,
    ...waits(waitsFor, `Why ${waitsFor}.`, stalled),
  });
  const waits = (waitsFor: WaitsFor, why: string, stalled: StalledView | null = null): WaitsView => ({
    ...{ waitsFor, why, stalled },
    ...{ since: now, usuallyUntil: null, before: null, remedies: [] },
  });
  const registration = waits('remote_service', 'Why not.');

  it.each([
    ['remote_service', 'pending', /^The registration is not confirmed yet/, []],
    [
      'tenant',
      'uncertain',
      /^Nobody knows whether .*: late\.$/,
      ['resolveRegistration', 'retryRegistration', 'discardRegistration'],
    ],
    [
      'tenant',
      'rejected',
      /^The remote service refused the registration: late\.$/,
      ['retryRegistration', 'discardRegistration'],
    ],
    ['tenant', 'discarded', /^A person has discarded/, ['registerUser']],
    ['tenant', 'registered', /without a grid location/, []],
  ] as const)('waits for %s while its registration is %s', (waitsFor, status, why, remedies) => {
    const { state, since, usuallyUntil, evidence } = waitOfRegistration({
      id: '7',
      status,
      lastError: 'late',
      updatedAt: now,
      nextAttemptAt: hoursAgo(-1),
    });
    const wait = WAITS[state];
    expect([wait.waitsFor, since, usuallyUntil]).toEqual([waitsFor, now, hoursAgo(-1)]);
    expect(textOf(wait, evidence)).toMatch(why);
    expect(wait.remedies.map(({ operationId }) => operationId)).toEqual(remedies);
  });

  it('waits for the tenant if nothing is known of its registration', () =>
    expect(waitOfRegistration(null)).toEqual({
      ...{ state: 'registered', kind: 'registration', subject: { id: '' } },
      ...{ since: null, usuallyUntil: null, evidence: { lastError: null } },
    }));

  it('has the brands that are expected and those of its sessions, each once', () =>
    expect(
      brandsOf([
        { expected: { brands: ['b', 'a'], inverters: null }, sessions: [{ brand: 'a' }, { brand: null }] },
        { expected: { brands: [], inverters: null }, sessions: [{ brand: 'c' }, { brand: 'b' }] },
      ] as unknown as Parameters<typeof brandsOf>[0]),
    ).toEqual(['b', 'a', 'c']));

  it('waits for whom its locations wait, the most urgent first', () => {
    expect(decideCustomer(registration, [])).toEqual(registration);
    expect(decideCustomer(registration, [at('a', 'owner')])).toEqual(waits('owner', 'Why owner.'));
    expect(
      decideCustomer(registration, [at('a', 'nobody'), at('b', 'installation'), at('c', 'tenant')]),
    ).toEqual(waits('tenant', '2 of 3 grid locations wait, the most urgent is c: Why tenant.'));
    expect(decideCustomer(registration, [at('a', 'nobody'), at('b', 'nobody')])).toEqual(
      waits('nobody', 'All 2 grid locations of the customer are online.'),
    );
  });

  it('waits for whom a stall waits, before all that waits in the ordinary way', () => {
    const later = stall('never_opened', 'owner', 'later');
    const cases = [at('a', 'tenant'), at('b', 'owner', later)];
    expect(decideCustomer(registration, cases)).toMatchObject({ waitsFor: 'owner', stalled: later });
    const uncertain = waits('tenant', 'Uncertain.', stall('uncertain', 'tenant', 'now'));
    expect(decideCustomer(uncertain, cases)).toEqual(uncertain);
  });
});
