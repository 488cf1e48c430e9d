import { afterEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { StallKinds, type SubjectFacts } from '../../../src/stalls/stall-kinds.js';
import { StallTask } from '../../../src/stalls/stall-task.service.js';
import { emptyTables } from '../../setup/database/test-database.js';
import { waitFor } from '../../setup/wait-for.js';
import { beginHistory, randomOf, takeStep, type World } from '../support/input/stall-histories.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { startReplicas, type Replicas } from '../support/replicas.js';

const HISTORIES = isLong ? 2_000 : 40;
/** The histories that share a database at a time. */
const AT_ONCE = 40;
const STEPS = 12;
const WITHIN_MS = 3_600_000;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const PASSES = [0, 0, MINUTE_MS, 20 * MINUTE_MS, 150 * MINUTE_MS, DAY_MS, 4 * DAY_MS, 31 * DAY_MS];
/** Longer than the longest time after which a rule looks again. */
const LONG_MS = DAY_MS + MINUTE_MS;

/** The tables of the subjects of each kind. */
const TABLES: Readonly<Record<string, string>> = {
  registration: 'registrations',
  start: 'session_starts',
  session: 'onboarding_sessions',
  invitation: 'invitations',
  inverter: 'inverters',
  endpoint: 'webhook_endpoints',
};
/** The tables whose times are moved with the clock. */
const MOVED = [...Object.values(TABLES), 'session_polls', 'remote_operations', 'stalls', 'stall_looks'];
/** The facts that no change of a subject announces: the rule says when to look at them again. */
const UNANNOUNCED = ['areOthersServed', 'isServed', 'checkedAt', 'nextCheckAt', 'p95Seconds', 'known'];
/** Counts that are brought up to date when the subject is looked at. */
const COUNTS = ['failures', 'reads'];

type Facts = SubjectFacts & Readonly<Record<string, unknown>>;
type Told = {
  readonly cause: string;
  readonly since: Date;
  readonly evidence: Readonly<Record<string, unknown>>;
};

let replicas: Replicas;
afterEach(() => replicas.close());

const database = (): Database => replicas.apps[0]!.database;
const kinds = () => replicas.apps[0]!.app.get(StallKinds).all;
const run = () => replicas.apps[0]!.app.get(StallTask).run();

/** Makes everything as old as if `ms` had passed, which changes no subject. */
async function pass(ms: number): Promise<void> {
  const columns = await database().query<{ table: string; columns: string[] }>(
    `SELECT table_name AS "table", array_agg(column_name::text) AS columns FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name = ANY ($1) AND data_type LIKE 'timestamp%' GROUP BY table_name`,
    [MOVED],
  );
  await database().transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    for (const { table, columns: names } of columns)
      await tx.query(
        `UPDATE ${table} SET ${names.map((name) => `${name} = ${name} - $1 * interval '1 ms'`).join(', ')}`,
        [ms],
      );
    await tx.query(
      `UPDATE stalls SET evidence = evidence || (
         SELECT jsonb_object_agg(key, to_char((value::timestamptz - $1 * interval '1 ms') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
         FROM jsonb_each_text(evidence) WHERE key IN ('expiresAt', 'lastAttemptAt')
       ) WHERE evidence ?| ARRAY['expiresAt', 'lastAttemptAt']`,
      [ms],
    );
  });
}

/** Reads the facts of all subjects, and of those that have a stall. */
async function readFacts(isDue = false): Promise<Map<string, Facts | null>> {
  const facts = new Map<string, Facts | null>();
  for (const { kind, facts: statement } of kinds()) {
    const text = isDue
      ? `SELECT subject AS id FROM stall_looks WHERE kind = $1 AND look_at <= now()`
      : `SELECT id FROM ${TABLES[kind]} UNION SELECT subject FROM stalls WHERE kind = $1`;
    const ids = (
      await database().query<{ id: string }>(`${text}${isDue ? '' : ' AND $1 IS NOT NULL'}`, [kind])
    ).map(({ id }) => id);
    for (const id of ids) facts.set(`${kind} ${id}`, null);
    for (const each of await database().query<Facts>(statement, [ids]))
      facts.set(`${kind} ${each.id}`, { ...each });
  }
  return facts;
}

/** Returns the subjects whose stall in the table is not that of the rule. `seen`: their unannounced facts as they were looked at. */
async function findDifferences(seen?: ReadonlyMap<string, object>): Promise<string[]> {
  const [{ now }] = (await database().query<{ now: Date }>('SELECT clock_timestamp() AS now')) as [
    { now: Date },
  ];
  const facts = await readFacts();
  const told = new Map(
    (
      await database().query<Told & { subject: string }>(
        `SELECT kind || ' ' || subject AS subject, cause, since, evidence FROM stalls`,
      )
    ).map(({ subject, ...stall }) => [subject, stall]),
  );
  const look = new Map(kinds().map((kind) => [kind.kind as string, kind.look]));
  return [...facts].flatMap(([subject, known]) => {
    const rule = look.get(subject.split(' ')[0]!)!;
    const { stall } = known === null ? { stall: null } : rule({ ...known, ...seen?.get(subject) }, now);
    const [expected, found] = [stall, told.get(subject)].map((each) => wordsOf(each, seen !== undefined));
    return expected === found ? [] : [`${subject}: ${found} instead of ${expected}`];
  });
}

const wordsOf = (stall: Told | null | undefined, areCountsOld: boolean): string => {
  if (stall === null || stall === undefined) return 'nothing';
  const evidence = Object.entries(stall.evidence).filter(([name]) => !areCountsOld || !COUNTS.includes(name));
  return JSON.stringify([stall.cause, stall.since, evidence.sort()]);
};

/** Lets customers live, in `histories` histories. Returns the differences between the table and the rules after each step. */
async function live(histories: number, prepare: () => Promise<unknown> = () => Promise.resolve()) {
  replicas = await startReplicas({ count: 1, environment: { ROLE: 'api' } });
  const world: World = { client: replicas.clients[0]!, database: database() };
  const result = { differences: [] as string[], compared: 0, causes: new Set<string>() };
  await prepare();
  for (let first = 0; first < histories; first += AT_ONCE) {
    await emptyTables(database(), 'users, registrations, webhook_endpoints, stalls, stall_looks');
    await database().query(
      `UPDATE remote_operations SET health = 'healthy', reason = NULL, open_until = NULL`,
    );
    const ongoing = [];
    for (let nth = 0; nth < Math.min(AT_ONCE, histories - first); nth++)
      ongoing.push(await beginHistory(world, first + nth));
    const random = randomOf(first);
    const seen = new Map<string, object>();
    const look = async () => {
      for (const [subject, facts] of await readFacts(true))
        seen.set(
          subject,
          Object.fromEntries(Object.entries(facts ?? {}).filter(([name]) => UNANNOUNCED.includes(name))),
        );
      await run();
    };
    for (let step = 0; step <= STEPS; step++) {
      const isLast = step === STEPS;
      if (!isLast) for (const history of ongoing) await takeStep(world, history);
      const passMs = isLast ? LONG_MS : PASSES[Math.floor(random() * PASSES.length)]!;
      if (passMs > 0) await pass(passMs);
      let found: string[] = [];
      // A stall may begin between the look and the comparison.
      await waitFor(
        'the stalls to be told',
        async () => {
          await look();
          found = await findDifferences(isLast ? undefined : seen);
          if (found.length > 0) throw new Error(found.join('\n'));
          return true;
        },
        isLong ? 2_000 : 10_000,
      ).catch(() => {});
      result.differences.push(...found.map((each) => `history ${first}, step ${step}: ${each}`));
      result.compared += (await readFacts()).size;
      for (const { cause } of await database().query<{ cause: string }>(
        `SELECT DISTINCT kind || ' ' || cause AS cause FROM stalls`,
      ))
        result.causes.add(cause);
      if (found.length > 0) break;
    }
  }
  return result;
}

describe('R84: the stall told is the stall there is', () => {
  it(
    `after each step of ${HISTORIES} random histories`,
    async () => {
      const { differences, compared, causes } = await live(HISTORIES);
      promise('R84', {
        figure: `${differences.length} differences in ${compared} comparisons of ${HISTORIES} histories with ${causes.size} causes`,
        bound: '0',
      });
      expect(differences).toEqual([]);
      const all = kinds().flatMap(({ kind, causes: of }) =>
        Object.keys(of).map((cause) => `${kind} ${cause}`),
      );
      // The others are planted one by one in the tests of the stalls.
      expect(causes.size).toBeGreaterThan(all.length / 2);
    },
    WITHIN_MS,
  );

  for (const [table, trigger] of [
    ['registrations', 'look_for_stalls_of_updated'],
    ['session_starts', 'look_for_stalls_of_inserted'],
    ['onboarding_sessions', 'look_for_stalls_of_updated'],
    ['session_polls', 'look_for_stall_of_failing'],
    ['invitations', 'look_for_stalls_of_updated'],
    ['webhook_endpoints', 'look_for_stall_of_failing'],
  ])
    itAtLength(
      `turns red when a change is skipped: ${trigger} on ${table}`,
      async () => {
        const { differences } = await live(AT_ONCE, () =>
          database().query(`ALTER TABLE ${table} DISABLE TRIGGER ${trigger}`),
        );
        expect(differences).not.toEqual([]);
      },
      WITHIN_MS,
    );
});
