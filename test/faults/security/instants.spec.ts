import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readExpiresIn } from '../../../src/auth/expires-in.rules.js';
import { parseInstant, type InstantReading } from '../../../src/platform/time/instant.rules.js';
import { TestClient, type Answer, type SessionAnswer, type UserAnswer } from '../../setup/client.js';
import type { TestApp } from '../../setup/test-app.js';
import { startScriptedRemote, type ScriptedRemote, type Times } from '../support/network/scripted-remote.js';
import { FIRST, LAST, makeInstants, makeRealInstants, type MadeInstant } from '../support/input/instants.js';
import { isLong, itAtLength, promise } from '../support/promise.js';

jest.setTimeout(600_000);

/** Each user has eight times: two of the user, three of a start and three of a read. A list returns all of them on one page. */
const USERS = isLong ? 190 : 30;
const RESOLVED = isLong ? 100 : 15;
const QUERIES = isLong ? 700 : 20;
const IN_MODULE = 10_000;
const AT_ONCE = 8;
const SEED = 20_261_121;
const EAN = '541448820044186577';

const LISTS: Readonly<Record<string, (instant: string) => readonly string[]>> = {
  '/users': (instant) => ['users', instant, randomUUID()],
  '/registrations': (instant) => ['registrations', instant, randomUUID()],
  '/onboarding/pv': (instant) => ['sessions', instant, randomUUID()],
  '/inverters': (instant) => ['inverters', instant, randomUUID(), randomUUID()],
  '/api-keys': (instant) => ['api-keys', instant, randomUUID()],
  '/webhook-endpoints': (instant) => ['endpoints', instant, randomUUID()],
  '/webhook-deliveries': (instant) => ['deliveries', instant, '7', randomUUID()],
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
interface Dated {
  readonly createdAt: string;
  readonly updatedAt: string;
}
type User = UserAnswer & Dated;
type Session = SessionAnswer & Dated & { readonly expiresAt: string };

const isReal = ({ is }: MadeInstant) => is !== 'none';
const exists = ({ is }: MadeInstant) => typeof is === 'number';

function clamped({ is }: MadeInstant): string | undefined {
  if (is === 'before') return FIRST;
  if (is === 'after') return LAST;
  return is === 'none' ? undefined : new Date(is).toISOString();
}

const isWhole = (...times: readonly string[]) =>
  times.every((time) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time));

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const drain = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, drain));
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

/** Runs all checks against a freshly imported service. Returns the faults and the number of instants. */
async function findFaults(): Promise<{ faults: string[]; instants: number }> {
  const { startTestApp } = await import('../../setup/test-app.js');
  // The intervals are so long that only the test's requests read sessions.
  const intervals = { POLL_MIN_INTERVAL_MS: 60_000, POLL_MAX_INTERVAL_MS: 120_000 };
  service = await startTestApp({
    SCS_BASE_URL: remote.url,
    EAN_CHECK_DIGIT: 'off',
    LOG_LEVEL: 'error',
    ...intervals,
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
  const isShown = (session: Session, [created, updated, expires]: readonly MadeInstant[]) =>
    session.createdAt === clamped(created!) &&
    session.updatedAt === clamped(updated!) &&
    session.expiresAt === clamped(expires!) &&
    isWhole(session.checkedAt);

  const any = makeInstants(4 * USERS, SEED);
  const real = makeRealInstants(6 * USERS, SEED + 1);
  const made = new Map<string, Record<keyof Times, MadeInstant[]>>(
    Array.from({ length: USERS }, (_, at) => {
      const [created, updated, odd, other] = any.slice(4 * at, 4 * at + 4);
      const [a, b, c, d, e, f] = real.slice(6 * at, 6 * at + 6);
      // Four of five starts and four of five reads have valid times only, because otherwise few sessions could be read.
      const start = [a!, at % 5 === 0 ? odd! : b!, c!];
      const read = [d!, e!, at % 5 === 1 ? other! : f!];
      return [`dated-${at}`, { user: [created!, updated!], start, read }] as const;
    }),
  );
  timesOf = (reference) => {
    const one = made.get(reference);
    const texts = (times: readonly MadeInstant[]) => times.map(({ text }) => text);
    return one && { user: texts(one.user), start: texts(one.start), read: texts(one.read) };
  };
  let users = 0;
  let sessions = 0;

  await each(
    [...made],
    async ([
      tenantReference,
      {
        user: [created, updated],
        start,
        read,
      },
    ]) => {
      instants += 8;
      const registered = await call<User>('POST', '/users', {
        tenantReference,
        gridLocations: [{ ean: EAN }],
      });
      check(registered.status === 201, 'not registered', created, updated, registered.body);
      if (registered.status !== 201) return;
      users += 1;
      const { body: user } = await call<User>('GET', `/users/${registered.body.id}`);
      const createdAt = clamped(created!) ?? user.createdAt;
      const updatedAt = clamped(updated!) ?? (exists(created!) ? createdAt : user.updatedAt);
      check(isWhole(user.createdAt, user.updatedAt), 'user', user);
      check(!exists(created!) || user.createdAt === createdAt, 'createdAt', created, user);
      check(!exists(updated!) || user.updatedAt === updatedAt, 'updatedAt', updated, user);

      const started = await call<Session>('POST', `/onboarding/pv/${user.gridLocations[0]?.id}`, {});
      check(
        started.status === (start.every(isReal) ? 201 : 503),
        'start',
        start,
        started.status,
        started.body,
      );
      if (started.status !== 201) return;
      sessions += 1;
      const path = `/onboarding/pv/${started.body.id}`;
      const asStarted = await call<Session>('GET', path);
      check(isShown(asStarted.body, start), 'started', start, asStarted.body);
      const fresh = await call<Session>('GET', `${path}?maxAge=0`);
      const isRead = read.every(isReal);
      check(fresh.status === (isRead ? 200 : 503), 'read', read, fresh.status, fresh.body);
      const { body: session } = await call<Session>('GET', path);
      // A read does not change createdAt. A response that is older than the one before changes nothing.
      const isNews = isRead && clamped(read[1]!)! >= clamped(start[1]!)!;
      check(
        isShown(session, isNews ? [start[0]!, read[1]!, read[2]!] : start),
        'session',
        start,
        read,
        session,
      );
    },
  );

  const confirmed = makeInstants(RESOLVED, SEED + 2);
  await each(confirmed, async (instant) => {
    instants += 1;
    const tenantReference = `lost-${randomUUID()}`;
    const { body: open } = await call<{ id: string }>('POST', '/users', {
      tenantReference,
      gridLocations: [{ ean: EAN }],
    });
    const gridLocations = [{ id: randomUUID(), ean: EAN }];
    const times = { createdAt: instant.text, updatedAt: LAST };
    const user = { id: randomUUID(), tenantReference, gridLocations, ...times };
    const { status, body } = await call<Problem>('POST', `/registrations/${open.id}/resolve`, user);
    const named = body.errors?.map(({ field }) => field);
    if (!exists(instant))
      return check(status === 400 && String(named) === 'createdAt', 'resolve', user, body);
    users += 1;
    const resolved = await call<User>('GET', `/users/${user.id}`);
    check(resolved.body.createdAt === clamped(instant), 'resolved', user, status, body, resolved.body);
  });

  const canonical = [FIRST, LAST, '2024-02-29T00:00:00.000Z'].map((text) => ({ text, is: Date.parse(text) }));
  const inQueries: readonly MadeInstant[] = [...makeInstants(QUERIES, SEED + 3), ...canonical];
  const cursorOf = (values: readonly string[]) => Buffer.from(JSON.stringify(values)).toString('base64url');
  const queries = inQueries.flatMap((instant) => [
    ...Object.entries(LISTS).map(([path, positionOf]) => ({
      path: `${path}?limit=1&cursor=${cursorOf(positionOf(instant.text))}`,
      field: 'cursor',
      isRight: exists(instant) && instant.text === clamped(instant),
    })),
    ...FILTERS.map((filter) => ({
      path: `${filter}${encodeURIComponent(instant.text)}&limit=1`,
      field: /\?(\w+)=/.exec(filter)![1]!,
      isRight: exists(instant),
    })),
  ]);
  await each(queries, async ({ path, field, isRight }) => {
    instants += 1;
    const { status, body } = await call<Problem>('GET', path);
    const named = body.errors?.map((error) => error.field);
    check(isRight ? status === 200 : status === 400 && String(named) === field, path, status, body);
  });

  for (const [path, expected] of [
    ['/users', users],
    ['/onboarding/pv', sessions],
  ] as const) {
    const pages = await call<{ items: readonly Dated[]; next: string | null }>('GET', `${path}?limit=200`);
    const items = pages.body.items ?? [];
    check(items.length === Math.min(expected, 200), `${path} lists`, items.length, expected);
    check(
      items.every(({ createdAt, updatedAt }) => isWhole(createdAt, updatedAt)),
      'unreadable',
      items,
    );
  }
  return { faults, instants };
}

const countMisread = (parse: (value: unknown, form: 'remote') => InstantReading): number =>
  makeInstants(IN_MODULE, SEED).filter((made) => {
    const read = parse(made.text, 'remote');
    if (read.kind === 'instant') return read.at.getTime() !== made.is;
    return read.kind === 'none' ? isReal(made) : exists(made) || read.nearest.toISOString() !== clamped(made);
  }).length;

/** The bug: accepts every text that `Date` can parse. */
function parseAsDate(value: unknown): InstantReading {
  const at = new Date(String(value));
  return Number.isNaN(at.getTime()) ? { kind: 'none' } : { kind: 'instant', at };
}

describe('R61: every stored instant can be read', () => {
  it(`of ${IN_MODULE} at the edges each is what it was made to be, and each is an expires_in`, () => {
    expect(countMisread(parseInstant)).toBe(0);
    const now = new Date('2026-11-21T12:00:00Z');
    const lives = makeInstants(IN_MODULE, SEED).map(({ text }) => readExpiresIn(text, now).lifetimeMs);
    expect(lives.filter((ms) => !(ms >= 1_000 && ms <= 14 * 86_400_000))).toEqual([]);
    expect(countMisread(parseAsDate)).toBeGreaterThan(IN_MODULE / 100);
  });

  it('through every field of the remote service, what a client confirms, every cursor and every filter', async () => {
    const { faults, instants } = await findFaults();
    promise('R61', { figure: `${faults.length} faults in ${instants} instants`, bound: '0' });
    expect(faults).toEqual([]);
  });

  itAtLength('turns red with new Date(text)', async () => {
    const instant = await import('../../../src/platform/time/instant.rules.js');
    jest.resetModules();
    jest.unstable_mockModule('../../../src/platform/time/instant.rules.js', () => ({
      ...instant,
      parseInstant: parseAsDate,
    }));
    const { faults } = await findFaults();
    expect(faults.filter((fault) => fault.startsWith('500')).length).toBeGreaterThan(20);
  });
});
