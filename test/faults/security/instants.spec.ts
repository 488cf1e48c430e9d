import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readExpiresIn } from '../../../src/auth/expires-in.rules.js';
import { parseInstant, type InstantReading } from '../../../src/platform/time/instant.rules.js';
import { TestClient, type Answer, type SessionAnswer, type UserAnswer } from '../../setup/client.js';
import type { TestApp } from '../../setup/test-app.js';
import { startScriptedRemote, type ScriptedRemote, type Times } from '../support/scripted-remote.js';
import {
  FIRST,
  LAST,
  makeCanonicalInstants,
  makeInstants,
  makeRealInstants,
  type MadeInstant,
} from '../support/input/instants.js';
import { isLong, itAtLength, promise } from '../support/promise.js';

jest.setTimeout(600_000);

/** Each user has eight times: two of the user, three of a start and three of a read. */
const USERS = isLong ? 1_250 : 40;
const RESOLVED = isLong ? 500 : 20;
/** Number of queries per list and per filter. The test adds a quarter of this number, with canonical instants as in real cursors. */
const QUERIES = isLong ? 500 : 20;
const IN_MODULE = 10_000;
const RED = { users: 20, resolved: 10, queries: 20 };
const AT_ONCE = 8;
const SEED = 20_261_121;

const LISTS: Readonly<Record<string, (instant: string) => readonly string[]>> = {
  '/users': (instant) => [instant, randomUUID()],
  '/registrations': (instant) => [instant, randomUUID()],
  '/onboarding/pv': (instant) => [instant, randomUUID()],
  '/inverters': (instant) => [instant, randomUUID(), randomUUID()],
  '/api-keys': (instant) => [instant, randomUUID()],
  '/webhook-endpoints': (instant) => [instant, randomUUID()],
  '/webhook-deliveries': (instant) => [instant, '7', randomUUID()],
};
const FILTERS = [
  ...['updatedSince', 'createdSince', 'startedBefore', 'expiresBefore'].map(
    (name) => `/onboarding/pv?${name}=`,
  ),
  '/webhook-deliveries?since=',
];

interface Problem {
  readonly errors?: readonly { readonly field: string }[];
}
interface User extends UserAnswer {
  readonly createdAt: string;
  readonly updatedAt: string;
}
type Session = SessionAnswer & { readonly createdAt: string; readonly expiresAt: string };

interface Case {
  readonly reference: string;
  readonly user: readonly [MadeInstant, MadeInstant];
  readonly start: readonly [MadeInstant, MadeInstant, MadeInstant];
  readonly read: readonly [MadeInstant, MadeInstant, MadeInstant];
}

/** Makes cases. Four of five starts and four of five reads have valid times only, because otherwise few sessions could be read. */
function makeCases(count: number): Case[] {
  const any = makeInstants(4 * count, SEED);
  const real = makeRealInstants(6 * count, SEED + 1);
  return Array.from({ length: count }, (_, index) => {
    const [one, two, three, four] = any.slice(4 * index) as [
      MadeInstant,
      MadeInstant,
      MadeInstant,
      MadeInstant,
    ];
    const [a, b, c, d, e, f] = real.slice(6 * index) as [
      MadeInstant,
      MadeInstant,
      MadeInstant,
      MadeInstant,
      MadeInstant,
      MadeInstant,
    ];
    return {
      reference: `dated-${index}`,
      user: [one, two],
      start: index % 5 === 0 ? [a, three, c] : [a, b, c],
      read: index % 5 === 1 ? [d, e, four] : [d, e, f],
    };
  });
}

const textsOf = <Made extends readonly MadeInstant[]>(made: Made) =>
  made.map(({ text }) => text) as unknown as { readonly [Index in keyof Made]: string };

const isReal = ({ is }: MadeInstant) => is !== 'none';
const exists = ({ is }: MadeInstant) => typeof is === 'number';

function clamped({ is }: MadeInstant): string | undefined {
  if (is === 'before') return FIRST;
  if (is === 'after') return LAST;
  return is === 'none' ? undefined : new Date(is).toISOString();
}

const WHOLE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const isWhole = (...times: readonly unknown[]) =>
  times.every((time) => typeof time === 'string' && WHOLE.test(time));

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
    }),
  );
}

let remote: ScriptedRemote;
let timesOf: (reference: string) => Times | undefined;
let service: TestApp | undefined;

beforeEach(async () => {
  remote = await startScriptedRemote((reference) => timesOf(reference));
});
afterEach(async () => {
  await service?.close();
  service = undefined;
  await remote.close();
  jest.resetModules();
});

interface Amount {
  readonly users: number;
  readonly resolved: number;
  readonly queries: number;
}

/** Runs all checks against a freshly imported service. Returns the faults and the number of instants. */
async function findFaults({
  users,
  resolved,
  queries,
}: Amount): Promise<{ faults: string[]; instants: number }> {
  const { startTestApp } = await import('../../setup/test-app.js');
  // The intervals are so long that only the test's requests read sessions.
  service = await startTestApp({
    SCS_BASE_URL: remote.url,
    EAN_CHECK_DIGIT: 'off',
    LOG_LEVEL: 'error',
    POLL_MIN_INTERVAL_MS: 60_000,
    POLL_MAX_INTERVAL_MS: 120_000,
  });
  const client = TestClient.of(service);
  const faults: string[] = [];
  let instants = 0;

  async function call<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const response = await client.call<T>(method, path, body);
    if (response.status === 500) faults.push(`500: ${method} ${path} ${JSON.stringify(body) ?? ''}`);
    return response;
  }
  const check = (isRight: boolean, what: string, ...shown: unknown[]) => {
    if (!isRight) faults.push(`${what}: ${JSON.stringify(shown)}`);
  };

  async function listAll<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page: Answer<{ items: T[]; next: string | null }> = await call(
        'GET',
        `${path}?limit=200${query}`,
      );
      if (page.status !== 200) return items;
      items.push(...page.body.items);
      cursor = page.body.next;
    }
    return items;
  }

  const readUsers = new Set<string>();
  const readSessions = new Set<string>();

  async function runCase({ reference, user: [created, updated], start, read }: Case): Promise<void> {
    instants += 2;
    const ean = '541448820044186577';
    const request = { tenantReference: reference, gridLocations: [{ ean }] };
    const registered = await call<User>('POST', '/users', request);
    check(registered.status === 201, 'not registered', created, updated, registered.body);
    if (registered.status !== 201) return;
    const { body: user } = await call<User>('GET', `/users/${registered.body.id}`);
    readUsers.add(user.id);
    const isAsGiven =
      isWhole(user.createdAt, user.updatedAt) &&
      (!exists(created) || user.createdAt === clamped(created)) &&
      user.updatedAt ===
        (exists(updated) ? clamped(updated) : exists(created) ? clamped(created) : user.updatedAt);
    check(isAsGiven, 'user', created, updated, user);

    instants += 3;
    const locationId = user.gridLocations[0]?.id ?? '';
    const started = await call<Session>('POST', `/onboarding/pv/${locationId}`, {});
    const isReadable = start.every(isReal);
    check(started.status === (isReadable ? 201 : 503), 'start', start, started.status, started.body);
    if (started.status !== 201) return;
    const asStarted = await call<Session>('GET', `/onboarding/pv/${started.body.id}`);
    readSessions.add(asStarted.body.id);
    check(isShown(asStarted.body, start), 'started', start, asStarted.body);

    instants += 3;
    const fresh = await call<Session>('GET', `/onboarding/pv/${started.body.id}?maxAge=0`);
    const isRead = read.every(isReal);
    check(fresh.status === (isRead ? 200 : 503), 'read', read, fresh.status, fresh.body);
    const { body: session } = await call<Session>('GET', `/onboarding/pv/${started.body.id}`);
    // A read does not change createdAt.
    const latest = isRead ? ([start[0], read[1], read[2]] as const) : start;
    check(isShown(session, latest), 'session', start, read, session);
  }

  const isShown = (
    session: Session,
    [created, updated, expires]: readonly [MadeInstant, MadeInstant, MadeInstant],
  ) =>
    session.createdAt === clamped(created) &&
    session.updatedAt === clamped(updated) &&
    session.expiresAt === clamped(expires) &&
    isWhole(session.checkedAt);

  async function resolve([created, updated]: readonly [MadeInstant, MadeInstant]): Promise<void> {
    instants += 2;
    const tenantReference = `lost-${randomUUID()}`;
    const ean = '541448820044186577';
    const { body: open } = await call<{ id: string }>('POST', '/users', {
      tenantReference,
      gridLocations: [{ ean }],
    });
    const user = {
      id: randomUUID(),
      tenantReference,
      gridLocations: [{ id: randomUUID(), ean }],
      createdAt: created.text,
      updatedAt: updated.text,
    };
    const resolution = await call<Problem>('POST', `/registrations/${open.id}/resolve`, user);
    const wrong = [...(exists(created) ? [] : ['createdAt']), ...(exists(updated) ? [] : ['updatedAt'])];
    if (wrong.length > 0) {
      const named = resolution.body.errors?.map(({ field }) => field);
      check(resolution.status === 400 && String(named) === String(wrong), 'resolve', user, resolution);
      return;
    }
    check(resolution.status === 200, 'resolve', user, resolution);
    const { body } = await call<User>('GET', `/users/${user.id}`);
    readUsers.add(user.id);
    check(body.createdAt === clamped(created) && body.updatedAt === clamped(updated), 'resolved', user, body);
  }

  async function query({
    path,
    field,
    isRight,
  }: {
    path: string;
    field: string;
    isRight: boolean;
  }): Promise<void> {
    instants += 1;
    const { status, body } = await call<Problem>('GET', path);
    const named = body.errors?.map((error) => error.field);
    check(isRight ? status === 200 : status === 400 && String(named) === field, path, status, body);
  }

  const cases = makeCases(users);
  const byReference = new Map(cases.map((one) => [one.reference, one]));
  timesOf = (reference) => {
    const one = byReference.get(reference);
    return one && { user: textsOf(one.user), start: textsOf(one.start), read: textsOf(one.read) };
  };
  await each(cases, runCase);
  const confirmed = makeInstants(2 * resolved, SEED + 2);
  await each(
    Array.from({ length: resolved }, (_, at) => [confirmed[2 * at]!, confirmed[2 * at + 1]!] as const),
    resolve,
  );
  const inQueries = [
    ...makeInstants(queries, SEED + 3),
    ...makeCanonicalInstants(Math.ceil(queries / 4), SEED + 4),
  ];
  await each(
    Object.entries(LISTS).flatMap(([path, positionOf]) =>
      inQueries.map((made) => ({
        path: `${path}?limit=1&cursor=${Buffer.from(JSON.stringify(positionOf(made.text))).toString('base64url')}`,
        field: 'cursor',
        isRight: exists(made) && made.text === clamped(made),
      })),
    ),
    query,
  );
  await each(
    FILTERS.flatMap((filter) =>
      inQueries.map((made) => ({
        path: `${filter}${encodeURIComponent(made.text)}&limit=1`,
        field: /\?(\w+)=/.exec(filter)![1]!,
        isRight: exists(made) && made.isRfc3339,
      })),
    ),
    query,
  );

  const listedUsers = await listAll<User>('/users');
  const listedSessions = await listAll<Session>('/onboarding/pv');
  check(listedUsers.length === readUsers.size, 'listed users', listedUsers.length, readUsers.size);
  check(
    listedSessions.length === readSessions.size,
    'listed sessions',
    listedSessions.length,
    readSessions.size,
  );
  const unreadable = [...listedUsers, ...listedSessions].filter(
    ({ createdAt, updatedAt }) => !isWhole(createdAt, updatedAt),
  );
  check(unreadable.length === 0, 'unreadable', unreadable);
  return { faults, instants };
}

function countMisread(parse: (value: unknown, form: 'remote') => InstantReading): number {
  return makeInstants(IN_MODULE, SEED).filter(({ text, is }) => {
    const read = parse(text, 'remote');
    switch (read.kind) {
      case 'instant':
        return read.at.getTime() !== is;
      case 'outside':
        return (
          read.nearest.toISOString() !== clamped({ text, is, isRfc3339: true }) || typeof is === 'number'
        );
      case 'none':
        return is !== 'none';
    }
  }).length;
}

/** The bug: accepts every text that `Date` can parse. */
function parseAsDate(value: unknown): InstantReading {
  const at = new Date(String(value));
  return Number.isNaN(at.getTime()) ? { kind: 'none' } : { kind: 'instant', at };
}

describe('R61: every stored instant can be read', () => {
  beforeAll(() => {
    expect(countMisread(parseInstant)).toBe(0);
  });

  it(`of ${IN_MODULE} at the edges each is what it was made to be, and each is an expires_in`, () => {
    const now = new Date('2026-11-21T12:00:00Z');
    const lives = makeInstants(IN_MODULE, SEED).map(({ text }) => readExpiresIn(text, now).lifetimeMs);
    expect(lives.filter((ms) => !(ms >= 1_000 && ms <= 14 * 86_400_000))).toEqual([]);
    expect(countMisread(parseAsDate)).toBeGreaterThan(IN_MODULE / 10);
  });

  it('through every field of the remote service, what a client confirms, every cursor and every filter', async () => {
    const { faults, instants } = await findFaults({ users: USERS, resolved: RESOLVED, queries: QUERIES });
    promise('R61', {
      figure: `${faults.length} faults in ${instants} instants; ${faults.filter((fault) => fault.startsWith('500')).length} × 500`,
      bound: '0',
    });
    expect(faults).toEqual([]);
    await expectRecorded();
  });

  itAtLength('turns red with new Date(text)', async () => {
    const instant = await import('../../../src/platform/time/instant.rules.js');
    jest.resetModules();
    jest.unstable_mockModule('../../../src/platform/time/instant.rules.js', () => ({
      ...instant,
      parseInstant: parseAsDate,
    }));
    const { faults } = await findFaults(RED);
    expect(faults.filter((fault) => fault.startsWith('500')).length).toBeGreaterThan(RED.queries);
  });
});

/** Checks that observations store the times verbatim, and that the recorded drift does not contain them. */
async function expectRecorded(): Promise<void> {
  const { Database } = await import('../../../src/platform/database/database.js');
  const database = service!.app.get(Database);
  const stored = await database.query<{ reference: string; source: 'start' | 'read'; times: string[] }>(`
    SELECT u.tenant_reference AS reference, o.source,
           array[o.body ->> 'createdAt', o.body ->> 'updatedAt', o.body ->> 'expiresAt'] AS times
      FROM session_observations o JOIN onboarding_sessions s ON s.id = o.session_id JOIN users u ON u.id = s.user_id`);
  expect(stored.length).toBeGreaterThan(USERS);
  expect(
    stored.filter(({ reference, source, times }) => String(times) !== String(timesOf(reference)?.[source])),
  ).toEqual([]);
  const drifts = await database.query<{ drift: string }>(
    `SELECT concat_ws(' ', operation, kind, field, expected) AS drift FROM remote_drift
      WHERE found IN ('another string', 'timestamp outside the years 1 to 9999')`,
  );
  const times = (operation: string, fields: readonly string[]) =>
    fields.map((field) => `${operation} other_type ${field} timestamp`);
  expect(drifts.map(({ drift }) => drift)).toEqual(
    expect.arrayContaining([
      ...times('register_user', ['createdAt', 'updatedAt']),
      ...times('start_session', ['createdAt', 'updatedAt', 'expiresAt']),
      ...times('read_session', ['createdAt', 'updatedAt', 'expiresAt']),
    ]),
  );
}
