import { describe, expect, it } from '@jest/globals';
import { decideCase } from './case.rules.js';
import { decideCustomer } from './customer.rules.js';
import { ago, decision, WAITS_FOR } from './decision.rules.js';
import type { Snapshot } from './snapshot.rules.js';

const now = new Date('2026-11-26T12:00:00Z');
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000);

type Session = Snapshot['sessions'][number];
type Start = Snapshot['starts'][number];
type Invitation = NonNullable<Snapshot['invitation']>;

const session = (fields: Partial<Session>): Session => ({
  brand: 'acme',
  state: 'awaiting_owner',
  createdAt: hoursAgo(3),
  stateChangedAt: hoursAgo(2),
  expiresAt: hoursAgo(-20),
  supersededAt: null,
  closedAt: null,
  checkedAt: now,
  stalled: null,
  inverters: [],
  ...fields,
});
const start = (fields: Partial<Start>): Start => ({
  brand: 'acme',
  status: 'failed',
  error: 'refused',
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

const decide = (known: Partial<Snapshot>) =>
  decideCase(
    {
      usualWait: () => undefined,
      gridLocationId: 'here',
      sessions: [],
      starts: [],
      invitation: undefined,
      wishDueAt: null,
      ...known,
    },
    now,
  );
const TWO = ['acme', 'sunward'];
const AGAIN = 'Ask the owner to follow the link of the invitation again';

const CASES: Readonly<Record<string, readonly [Partial<Snapshot>, why: string, next: string][]>> = {
  invitation: [
    [
      {},
      'Nothing has been started, and the owner has no invitation.',
      'Invite the owner: POST /api/v1/invitations with the gridLocationId here.',
    ],
    [
      { invitation: invitation({ state: 'revoked' }) },
      'Nothing has been started, and the owner has no valid invitation.',
      'Invite the owner again: POST /api/v1/invitations with the gridLocationId here.',
    ],
    [
      { sessions: [session({ state: 'expired' })] },
      'The session is over without an inverter online, and the owner has no invitation.',
      'Invite the owner: POST /api/v1/invitations with the gridLocationId here.',
    ],
    [
      { sessions: [session({ closedAt: hoursAgo(1) })] },
      'The session is over without an inverter online, and the owner has no invitation.',
      'Invite the owner: POST /api/v1/invitations with the gridLocationId here.',
    ],
    [
      { sessions: [session({ expiresAt: hoursAgo(1) })] },
      'The session of acme is over without an inverter online, and the owner has no invitation.',
      'Invite the owner: POST /api/v1/invitations with the gridLocationId here.',
    ],
  ],
  owner: [
    [
      { invitation: invitation() },
      'The owner was invited 3 days ago, and has not opened the page.',
      'Ask the owner to follow the link of the invitation.',
    ],
    [
      { invitation: invitation({ state: 'opened', openedAt: hoursAgo(1), brands: ['acme'] }) },
      'The owner opened the page 1 hour ago, and has not started acme.',
      'Ask the owner to follow the link of the invitation.',
    ],
    [
      { invitation: invitation(), sessions: [session({ state: 'expired' })] },
      'The session is over without an inverter online.',
      `${AGAIN}.`,
    ],
    [
      { invitation: invitation({ stalled: { cause: 'never_opened' } }) },
      'The owner was invited 3 days ago, and has not opened the page.',
      'Ask the owner whether the link has arrived, and send it again.',
    ],
    [
      { invitation: invitation({ openedAt: hoursAgo(90), stalled: { cause: 'opened_not_started' } }) },
      'The owner opened the page 3 days ago, and has not started.',
      'Ask the owner what is unclear about the page, and to follow its link again.',
    ],
    [
      { invitation: invitation({ stalled: { cause: 'expiring_soon' } }) },
      'The owner was invited 3 days ago, and has not opened the page.',
      'Ask the owner to follow the link of the invitation before 2026-12-06T12:00:00.000Z.',
    ],
    [
      { sessions: [session({})] },
      'A session of acme was started 3 hours ago, and the owner has not finished the web flow.',
      'Ask the owner to finish by the startUrl, before 2026-11-27T08:00:00.000Z.',
    ],
    [
      { invitation: invitation({ state: 'started' }), sessions: [session({ expiresAt: hoursAgo(1) })] },
      'A session of acme was started 3 hours ago, and the owner has not finished the web flow.',
      `${AGAIN}, and to finish.`,
    ],
    [
      {
        invitation: invitation({ state: 'started', brands: TWO, openedAt: hoursAgo(5) }),
        sessions: [online()],
      },
      'The owner opened the page 5 hours ago, and has not started sunward.',
      'Ask the owner to follow the link of the invitation.',
    ],
  ],
  installation: [
    [
      { sessions: [session({ state: 'awaiting_installation', brand: null })] },
      'The owner has probably finished the web flow, as we found 2 hours ago, and nothing is online yet.',
      'Wait: the inverters come online by themselves.',
    ],
    [
      {
        sessions: [session({ state: 'awaiting_installation' })],
        usualWait: (brand) => (brand === 'acme' ? { p95Seconds: 10_800 } : undefined),
      },
      'The owner has probably finished the web flow of acme, as we found 2 hours ago, and nothing is online yet.',
      'Wait: the inverters come online by themselves, usually within 3 hours.',
    ],
    [
      { sessions: [session({ state: 'awaiting_installation', stalled: { cause: 'completed_not_online' } })] },
      'The owner has probably finished the web flow of acme, as we found 2 hours ago, and nothing is online yet.',
      'Ask the installer or the provider: the installation is later than usual.',
    ],
    [
      { invitation: invitation({ expected: { inverters: 2 } }), sessions: [online()] },
      '1 of 2 inverters online: 1 missing.',
      'Wait: an online session is still read, and further inverters may follow.',
    ],
    [
      {
        invitation: invitation({ expected: { inverters: 2 } }),
        sessions: [online({ closedAt: hoursAgo(1) }), online()],
      },
      '1 of 2 inverters online: 1 missing.',
      'Wait: an online session is still read, and further inverters may follow.',
    ],
  ],
  remote_service: [
    [
      { sessions: [session({ checkedAt: hoursAgo(2), stalled: { cause: 'remote_unreachable' } })] },
      'The session of acme was last read 2 hours ago, and all reads since have failed.',
      'Look at GET /api/v1/status: once the reads succeed, the case says more.',
    ],
    [
      { starts: [start({ status: 'sending', error: null })] },
      'The start is being sent to the remote service.',
      'Look again in a minute: the start succeeds or fails by itself.',
    ],
    [
      {
        invitation: invitation({ state: 'opened', openedAt: hoursAgo(1) }),
        wishDueAt: hoursAgo(-1),
        starts: [start({})],
      },
      'The owner has clicked, and the remote service has not taken the start yet: refused.',
      'Wait: the start is repeated by itself, and the page of the owner then goes on.',
    ],
  ],
  tenant: [
    [
      { starts: [start({ error: null })], invitation: invitation(), wishDueAt: null },
      'The start failed 1 hour ago.',
      'Remove the cause, then start again: POST /api/v1/onboarding/pv/here.',
    ],
    [
      { starts: [start({})], wishDueAt: hoursAgo(-1) },
      'The start failed 1 hour ago: refused.',
      'Remove the cause, then start again: POST /api/v1/onboarding/pv/here.',
    ],
    [
      { starts: [start({})] },
      'The start failed 1 hour ago: refused.',
      'Remove the cause, then start again: POST /api/v1/onboarding/pv/here.',
    ],
    [
      { sessions: [session({ state: 'lost', closedAt: hoursAgo(1) })], invitation: invitation() },
      'The remote service no longer knows the session, as we found 2 hours ago.',
      'Ask the provider, then start another session: POST /api/v1/onboarding/pv/here with the body {"reuse":false}.',
    ],
    [
      { sessions: [session({ state: 'unrecognised' })], invitation: invitation({ brands: TWO }) },
      'The interface does not describe the flags of the session of acme, which we found 2 hours ago.',
      'Ask the provider what the flags of the session mean.',
    ],
    [
      { sessions: [online({ inverters: inverters(1, 1) })] },
      '1 of 2 inverters online: 1 missing, and the remote service has ceased to list 1 inverter.',
      'Ask the owner or the provider whether an inverter was removed.',
    ],
    [
      {
        invitation: invitation({ state: 'online', expected: { inverters: 2 } }),
        sessions: [online({ closedAt: hoursAgo(1) })],
      },
      '1 of 2 inverters online: 1 missing, and the sessions are closed.',
      'Ask the owner about the missing inverters, then start another session: POST /api/v1/onboarding/pv/here with the body {"brand":"acme","reuse":false}.',
    ],
  ],
  nobody: [
    [
      { sessions: [online({ inverters: inverters(2) })] },
      'All is online, with 2 inverters.',
      'Nothing is left to do.',
    ],
    [
      {
        invitation: invitation({ state: 'online', expected: { inverters: 1 } }),
        sessions: [online({ inverters: inverters(1, 1) })],
      },
      'All is online, with 1 inverter.',
      'Nothing is left to do.',
    ],
  ],
};

describe('a grid location', () => {
  it.each(
    Object.entries(CASES).flatMap(([waitsFor, cases]) => cases.map((each) => [waitsFor, ...each] as const)),
  )('waits for %s with %j', (waitsFor, known, why, next) => {
    expect(decide(known)).toMatchObject({ waitsFor, why, next });
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

  it('is decided by the session in place of one that it superseded', () => {
    const sessions = [session({}), session({ state: 'lost', supersededAt: hoursAgo(3) })];
    expect(decide({ sessions })).toHaveProperty('waitsFor', 'owner');
    const supersededOnline = [session({}), online({ supersededAt: hoursAgo(3) })];
    expect(decide({ sessions: supersededOnline })).toHaveProperty('waitsFor', 'nobody');
  });

  it('can still be started by an invitation that is newer than the failed start', () => {
    const newer = invitation({ createdAt: hoursAgo(0.5) });
    expect(decide({ starts: [start({})], invitation: newer })).toHaveProperty('waitsFor', 'owner');
  });

  it('waits for another brand that the tenant has started, even if none was expected', () => {
    expect(decide({ sessions: [session({ brand: 'sunward' }), online()] })).toMatchObject({
      waitsFor: 'owner',
      why: expect.stringContaining('of sunward'),
    });
  });
});

describe('a customer', () => {
  const at = (gridLocationId: string, waitsFor: (typeof WAITS_FOR)[number]) => ({
    ...decision(waitsFor, `Why ${waitsFor}.`, 'Next.'),
    gridLocationId,
  });

  it.each([
    ['remote_service', 'pending', /^The registration is not confirmed yet: late\.$/, /^Wait/],
    ['tenant', 'uncertain', /^It is unknown whether/, /decide: POST \/api\/v1\/registrations\/7\/resolve/],
    ['tenant', 'rejected', /^The remote service refused the registration: late\.$/, /7\/retry\.$/],
    ['tenant', 'discarded', /^A person has discarded/, /^Register the customer anew/],
    ['tenant', 'registered', /without a grid location/, /^Ask the provider/],
  ] as const)('waits for %s while its registration is %s', (waitsFor, status, why, next) => {
    const decided = decideCustomer({ id: '7', status, lastError: 'late' }, []);
    expect(decided.waitsFor).toBe(waitsFor);
    expect(decided.why).toMatch(why);
    expect(decided.next).toMatch(next);
  });

  it('waits for whom its locations wait, the most urgent first', () => {
    expect(decideCustomer(null, [at('a', 'owner')])).toEqual(decision('owner', 'Why owner.', 'Next.'));
    expect(decideCustomer(null, [at('a', 'nobody'), at('b', 'installation'), at('c', 'tenant')])).toEqual(
      decision('tenant', '2 of 3 grid locations wait, the most urgent is c: Why tenant.', 'Next.'),
    );
    expect(decideCustomer(null, [at('a', 'nobody'), at('b', 'nobody')])).toEqual(
      decision('nobody', 'All 2 grid locations of the customer are online.', 'Next.'),
    );
  });
});

it.each([
  [0, 'less than a minute ago'],
  [1 / 60, '1 minute ago'],
  [1.9, '1 hour ago'],
  [49, '2 days ago'],
  [-1, 'less than a minute ago'],
])('%d hours are %s', (hours, text) => {
  expect(ago(hoursAgo(hours), now)).toBe(text);
});
