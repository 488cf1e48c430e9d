import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CommanderError } from 'commander';
import { findApi, ServiceApi } from '../../../src/cli/api/service-api.js';
import { CommandError } from '../../../src/cli/command-error.js';
import { report } from '../../../src/cli/report.js';
import { MigrationError } from '../../../src/platform/database/migrations/script.js';
import { ConfigurationError } from '../../../src/platform/env/configuration-error.js';
import { Problem } from '../../../src/platform/problem/problem.js';
import { useFolder } from '../../setup/folder.js';

const NOW = Date.parse('2026-06-15T12:00:00Z');
const ID = '6c0d4d52-2f4b-4f5a-9d3c-0d1f5f3a9b11';
const OTHER = '7d1e5e63-2f4b-4f5a-9d3c-0d1f5f3a9b22';
const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString();

const folder = useFolder();
let transcript: string[];
let passedMs = 0;
let pausedMs = 0;
// A pause passes at once, and stands in the transcript.
jest.unstable_mockModule('node:timers/promises', () => ({
  setTimeout: (ms: number, _: unknown, { signal }: { signal?: AbortSignal } = {}) => {
    signal?.throwIfAborted();
    passedMs += ms;
    pausedMs += ms;
    return Promise.resolve();
  },
}));
const { apiCommands } = await import('../../../src/cli/api/api-commands.js');

beforeEach(() => {
  transcript = [];
});
afterEach(() => void jest.restoreAllMocks());

/** What the service responds, in this order: a body, a whole response, or the error of a call. */
type Responses = readonly (object | string | (() => object))[];

interface Terminal {
  /** What a person types. Default: there is no terminal to type at. */
  readonly types?: string;
  /** The width of the terminal that shows the results. Default: they are not shown on a terminal. */
  readonly columns?: number;
  /** The width of the terminal that shows the progress. */
  readonly progress?: number;
}

/** Replaces properties until the function that it returns is called. */
function replace(object: object, properties: Readonly<Record<string, unknown>>): () => void {
  const before = Object.entries(Object.getOwnPropertyDescriptors(object)).filter(
    ([name]) => name in properties,
  );
  for (const [name, value] of Object.entries(properties))
    Object.defineProperty(object, name, { value, configurable: true, writable: true });
  return () => Object.defineProperties(object, Object.fromEntries(before));
}

/**
 * Runs a command with these responses. Returns its requests (>), its lines of the standard output (without a mark) and of the standard error
 * (!), its pauses, and its exit code (=) if it is not 0.
 */
async function run(command: string, responses: Responses, { types, columns, progress }: Terminal = {}) {
  const args = command.split(' ').map(decodeURIComponent);
  const take = (mark: string) => (text: unknown) => {
    const visible = String(text)
      .replace(/\n$/, '')
      .replaceAll('\r', '<start>')
      .replaceAll('\x1b[K', '<clear>');
    const lines = visible.split('\n');
    return transcript.push(...lines.map((line) => mark + line)) > 0;
  };
  const isJson = args.includes('--json');
  jest.spyOn(Date, 'now').mockReturnValue(NOW);
  jest.spyOn(performance, 'now').mockImplementation(() => passedMs);
  process.exitCode = 0;
  const out = take('');
  const json = (text: unknown) => out(JSON.stringify(JSON.parse(String(text))).slice(0, 120));
  jest.spyOn(console, 'log').mockImplementation(isJson ? json : out);
  jest.spyOn(console, 'error').mockImplementation(take('! '));
  jest.spyOn(process.stdout, 'write').mockImplementation(out);
  jest.spyOn(process.stderr, 'write').mockImplementation(take('! '));
  const left = [...responses];
  const limit = jest.spyOn(AbortSignal, 'timeout');
  jest.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = input as Request;
    const { pathname, search } = new URL(request.url);
    const [type] = request.headers.get('content-type')?.split(';') ?? [];
    const body = type === undefined ? '' : ` ${type} ${(await request.text()).replaceAll(`"${ID}",`, '')}`;
    const limits = limit.mock.calls.splice(0).join();
    const how = [
      pausedMs === 0 ? '' : ` after ${pausedMs / 1_000} s`,
      limits === '60000' ? '' : ` within ${limits || 'any time'}`,
      init!.redirect === 'manual' ? '' : ' anywhere',
    ].join('');
    const path = `${pathname.slice('/api/v1'.length)}${decodeURIComponent(search)}`;
    pausedMs = 0;
    transcript.push(`> ${request.method} ${path}${how}${body}`);
    const planned = left.shift();
    const next = typeof planned === 'function' ? (planned as () => object)() : planned;
    if (next instanceof Error || next === undefined) throw next ?? new Error('no response was planned');
    if (next instanceof Response) return next;
    return typeof next === 'string' ? new Response(next) : Response.json(next);
  });
  const input = new PassThrough();
  input.end(types);
  const restore = [
    replace(process, { stdin: Object.assign(input, { isTTY: types !== undefined }) }),
    replace(process.stdout, { isTTY: columns !== undefined, columns }),
    replace(process.stderr, { isTTY: progress !== undefined, columns: progress }),
  ];
  try {
    const api = new ServiceApi('http://service', 'key');
    const made = apiCommands(() => Promise.resolve(api)).find((each) => each.name() === args[0])!;
    for (const each of [made, ...made.commands]) each.exitOverride();
    await made.parseAsync(args.slice(1), { from: 'user' });
  } catch (error) {
    process.exitCode = report(error, isJson);
  } finally {
    for (const each of restore) each();
    jest.restoreAllMocks();
  }
  if (process.exitCode !== 0) transcript.push(`= ${process.exitCode}`);
  process.exitCode = undefined;
  expect(left).toEqual([]);
  return transcript.join('\n').replaceAll(ID, 'ID').replaceAll(OTHER, 'OTHER').replaceAll(`${folder}/`, '');
}

const page = (items: readonly object[], next: string | null = null) => ({ items, next });
const registration = (id: string, seconds: number, lastError: string | null = 'it was lost') => ({
  ...{ id, status: 'uncertain', lastError },
  ...{ createdAt: ago(seconds), updatedAt: ago(seconds / 2) },
});
/** 501 registrations with seven errors, of which the last is by far the most frequent. */
const MANY = Array.from({ length: 501 }, (_, at) => registration(ID, 600 - at, `error ${Math.min(6, at)}`));
const NO_ROWS = { accepted: 0, invalid: 0, registered: 0, known: 0, rejected: 0, uncertain: 0, cancelled: 0 };
const campaign = (counts: Partial<typeof NO_ROWS>, more: object = {}) => ({
  ...{ id: ID, dryRun: false, counts: { ...NO_ROWS, ...counts } },
  ...{ status: 'finished', finishedAt: ago(1), rows: 3, perSecond: null, remainingSeconds: null },
  ...{ format: { type: 'csv', encoding: 'utf-8', delimiter: ';' }, problems: {}, brands: [] },
  ...more,
});

const checked = (counts: Partial<typeof NO_ROWS>, more: object = {}) =>
  campaign(counts, { dryRun: true, ...more });
const running = (counts: Partial<typeof NO_ROWS>, more: object = {}) =>
  campaign(counts, { status: 'running', finishedAt: null, ...more });
const rowWith = (line: number, code: string, column: string | null, message: string) => ({
  ...{ line, status: 'invalid', ean: null, tenantReference: 'x'.repeat(30) },
  problems: [
    { code, column, message },
    { code: 'other', column, message: 'Also this' },
  ],
});
const event = (sequence: number, type: string, data: object = {}) => ({
  ...{
    sequence: String(sequence).padStart(20, '0'),
    time: ago(sequence),
    type: `pv.${type}.v1`,
    subject: ID,
    data,
  },
});
const stream = (...events: object[]) =>
  `retry: 1\n\n${events.map((each) => `id: 7\ndata: ${JSON.stringify(each)}\n\n`).join('')}`;
const endpoint = (more: object) => ({
  ...{
    id: ID,
    enabled: true,
    failures: 0,
    disabledReason: null,
    pending: 3,
    description: 'of the whole team',
  },
  ...{ url: 'https://crm.example:8443/path', ...more },
});
const delivery = (more: object) => ({
  ...{ id: ID, status: 'failed', attempts: 2, lastStatus: null, lastError: null, createdAt: ago(200_000) },
  ...{ type: 'pv.session.online.v1', ...more },
});
const user = (seconds: number) => ({
  ...{
    id: ID,
    registeredAt: ago(seconds),
    tenantReference: 'r',
    gridLocations: [{ ean: 'a' }, { ean: 'b' }, { ean: 'c' }],
  },
});
const problem = (status: number, code: string) =>
  new Response(JSON.stringify({ status, code, detail: `This is ${code}.` }), {
    ...{ status, headers: { 'content-type': 'application/problem+json' } },
  });
const lost = () => new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });

/** The transcript of a check up to its result. */
const CHECKED = `! checking customers.csv
> POST /campaigns?dryRun=true within any time text/csv its rows
the dry run read 3 rows of CSV, utf-8, separator ;
`;
/** The transcript of an import up to its progress. */
const BEGIN = `${CHECKED}RESULT    ROWS
accepted  3

the result of each row: campaigns result ID
> POST /campaigns within any time text/csv its rows
! the campaign is ID
`;
const SAYS = {
  forbidden: 'forbidden: This is forbidden.',
  not_found: 'not_found: This is not_found.',
  unauthenticated:
    'unauthenticated: the service at http://service refuses the API key; set PV_ONBOARDING_API_KEY to a valid one.',
} as const;

describe('the transcript', () => {
  beforeEach(async () => {
    for (const name of ['customers.csv', 'customers.NDJSON']) await writeFile(join(folder, name), 'its rows');
  });

  it.each<[of: string, command: string, Responses, expected: string, Terminal?]>([
    [
      'of a decision about many',
      'registrations retry-all --status uncertain --created-since A --created-before B --last-error lost',
      [
        page(MANY.slice(0, 200), 'c1'),
        page(MANY.slice(200)),
        page([{ ok: true }]),
        page([{ ok: false, id: OTHER, detail: 'It was sent.' }, { ok: true }]),
      ],
      `> GET /registrations?status=uncertain&createdSince=A&createdBefore=B&lastError=lost&limit=200
> GET /registrations?status=uncertain&createdSince=A&createdBefore=B&lastError=lost&limit=200&cursor=c1
! At http://service: this sends again 501 uncertain registrations, created from 2026-06-15 11:58:20Z to 2026-06-15 11:50:00Z:
!   495 × error 6
!   1 × error 0
!   1 × error 1
!   1 × error 2
!   1 × error 3
!   and 2 other errors
! For each whose earlier call took effect, a second user is created at the provider. This cannot be undone.
! Type yes to confirm: 
> POST /registrations/decisions application/json {"decision":"retry","ids":["ID"],"unchangedSince":"2026-06-15T11:59:10.001Z"}
> POST /registrations/decisions application/json {"decision":"retry","ids":["ID"],"unchangedSince":"2026-06-15T11:59:10.001Z"}
decided: 2
refused: 1
ID                                    WHY
OTHER  It was sent.
= 1`,
      { types: ' YES \n' },
    ],
    [
      'of a decision that is not confirmed',
      'registrations discard-all --status pending',
      [page([null, 'c', 'd', 'e', 'a\nb'].map((error, nth) => registration(ID, 60 * (nth + 1), error)))],
      `> GET /registrations?status=pending&limit=200
! At http://service: this gives up 5 uncertain registrations, created from 2026-06-15 11:55:00Z to 2026-06-15 11:59:00Z:
!   1 × no error
!   1 × c
!   1 × d
!   1 × e
!   1 × a\\u000ab
! If a user exists after all, \`registrations resolve\` can still enter it.
! Type yes to confirm: 
! Not confirmed: nothing was changed.
= 1`,
      { types: 'y\n' },
    ],
    [
      'of a decision about none',
      'registrations discard-all --status pending',
      [page([])],
      `> GET /registrations?status=pending&limit=200
decided: 0
refused: 0`,
      { types: 'no\n' },
    ],
    [
      'of a decision about one',
      'registrations discard-all --status uncertain --yes',
      [page([registration(ID, 60)]), page([{ ok: true }])],
      `> GET /registrations?status=uncertain&limit=200
> POST /registrations/decisions application/json {"decision":"discard","ids":["ID"],"unchangedSince":"2026-06-15T11:59:30.001Z"}
decided: 1
refused: 0`,
    ],
    [
      'of an import that nobody can confirm',
      'import FILE --name N --invite --encoding utf-8 --columns A=B=ean,Straat= --references-confirmed',
      [
        checked(
          { accepted: 1, invalid: 2 },
          { problems: { required: 2, ean: 1 }, brands: [{ brand: 'sunward', rows: 1_200 }] },
        ),
        page(
          [rowWith(2, 'required', 'ean', 'It is missing'), rowWith(3, 'required', 'ean', 'It is missing')],
          'c',
        ),
        page([rowWith(3, 'ean', 'ean', 'ean: too long'), rowWith(4, 'ean', null, 'Odd')]),
      ],
      `! checking customers.csv
> POST /campaigns?name=N&dryRun=true&invite=true&encoding=utf-8&columns=A=B:ean,Straat:&referencesConfirmed=true within any time text/csv its rows
the dry run read 3 rows of CSV, utf-8, separator ;
RESULT    ROWS
accepted  1
invalid   2
BRAND    ROWS
sunward  1,200

required: 2 rows
> GET /campaigns/ID/rows?problem=required&limit=10
  lines 2, 3, ean: It is missing
  more: campaigns rows ID --problem required

ean: 1 row
> GET /campaigns/ID/rows?problem=ean&limit=10
  line 3: ean: too long
  line 4: Odd

the result of each row: campaigns result ID
! Nothing was imported: a script must confirm the import with --yes.
= 2`,
    ],
    [
      'of an import on a narrow terminal, with a problem that the check has not shown',
      'import FILE --invite',
      [
        checked({ accepted: 1, known: 1, invalid: 1 }, { problems: { required: 1 } }),
        page([rowWith(2, 'required', 'ean', 'ean is missing')]),
        campaign({ registered: 1, known: 1, invalid: 1 }, { problems: { required: 1, late: 1 } }),
        page([rowWith(4, 'late', null, 'Late')]),
      ],
      `! checking customers.csv
> POST /campaigns?dryRun=true&invite=true within any time text/csv its rows
the dry run read 3 rows of CSV, utf-8,
  separator ;
RESULT    ROWS
accepted  1
invalid   1
known     1

required: 1 row
> GET /campaigns/ID/rows?problem=required&limit=10
  line 2: ean is missing

the result of each row: campaigns result
  ID
! At http://service: this registers the customers of 1 row and invites the owners of 2 rows, without the other 1 row.
! Type yes to confirm: 
> POST /campaigns?invite=true within any time text/csv its rows
! the campaign is ID
! 3 of 3 rows, finished, 1 invalid

the campaign has 3 rows of CSV, utf-8,
  separator ;
RESULT      ROWS
invalid     1
registered  1
known       1

late: 1 row
> GET /campaigns/ID/rows?problem=late&limit=10
  line 4: Late

the result of each row: campaigns result
  ID
= 3`,
      { types: 'yes\n', columns: 40 },
    ],
    [
      'of an adoption with sessions that cannot be read',
      'import customers.NDJSON --adopt',
      [
        checked({ known: 2 }, { rows: 2, format: { type: 'ndjson', encoding: 'utf-8', delimiter: null } }),
        campaign({ known: 2 }, { rows: 2, problems: { session_not_read: 1 } }),
        page([]),
      ],
      `! checking customers.NDJSON
> POST /campaigns?dryRun=true&adopt=true within any time application/x-ndjson its rows
the dry run read 2 rows of NDJSON, utf-8
RESULT  ROWS
known   2

the result of each row: campaigns result ID
! At http://service: this adopts the customers of 2 rows.
! Type yes to confirm: 
> POST /campaigns?adopt=true within any time application/x-ndjson its rows
! the campaign is ID
! 2 of 2 rows, finished

the campaign has 2 rows of CSV, utf-8, separator ;
RESULT  ROWS
known   2

session_not_read: 1 row
> GET /campaigns/ID/rows?problem=session_not_read&limit=10

the result of each row: campaigns result ID
= 3`,
      { types: 'yes' },
    ],
    [
      'of an import that is not confirmed',
      'import FILE',
      [checked({ accepted: 2 }, { format: { type: 'csv', encoding: 'utf-8', delimiter: '\t' } })],
      `! checking customers.csv
> POST /campaigns?dryRun=true within any time text/csv its rows
the dry run read 3 rows of CSV, utf-8, separator tab
RESULT    ROWS
accepted  2

the result of each row: campaigns result ID
! At http://service: this registers the customers of 2 rows, without the other 1 row.
! Type yes to confirm: 
! Not confirmed: nothing was changed.
= 1`,
      { types: 'no\n' },
    ],
    [
      'of an import without new customers',
      'import FILE',
      [checked({ known: 3 })],
      `${CHECKED}RESULT  ROWS
known   3

the result of each row: campaigns result ID
no customer is new: nothing is to be done`,
    ],
    [
      'of an import without a valid row',
      'import FILE --yes',
      [checked({ invalid: 3 })],
      `${CHECKED}RESULT   ROWS
invalid  3

the result of each row: campaigns result ID
! No row can be imported: nothing was done.
= 3`,
    ],
    [
      'of an import as JSON',
      'import FILE --json --yes',
      [checked({ accepted: 3 }), campaign({ rejected: 1, registered: 2 })],
      `> POST /campaigns?dryRun=true within any time text/csv its rows
> POST /campaigns within any time text/csv its rows
{"id":"ID","dryRun":false,"counts":{"accepted":0,"invalid":0,"registered":2,"known":0,
= 3`,
    ],
    [
      'of a dry run as JSON',
      'import FILE --json --dry-run --adopt',
      [checked({ accepted: 3 })],
      `> POST /campaigns?dryRun=true&adopt=true within any time text/csv its rows
{"id":"ID","dryRun":true,"counts":{"accepted":3,"invalid":0,"registered":0,"known":0,"`,
    ],
    [
      'of an import as JSON that nobody can confirm',
      'import FILE --json',
      [checked({ accepted: 3 })],
      `> POST /campaigns?dryRun=true within any time text/csv its rows
{"id":"ID","dryRun":true,"counts":{"accepted":3,"invalid":0,"registered":0,"known":0,"
! {"code":"not_confirmed","detail":"Nothing was imported: a script must confirm the import with --yes."}
= 2`,
    ],
    [
      'of an import during which the service is lost twice',
      'import FILE --yes',
      [
        ...[
          checked({ accepted: 3 }),
          running({ accepted: 3 }),
          ...[1, 2, 3, 4, 5, 6].map(() => lost),
          running({ accepted: 2, registered: 1 }),
        ],
        ...[
          lost,
          running({ accepted: 1, registered: 2 }),
          running({ registered: 3 }),
          campaign({ registered: 3 }),
        ],
      ],
      `${BEGIN}! 0 of 3 rows
> GET /campaigns/ID after 1 s
! The service at http://service does not respond (ECONNRESET). Trying again; the campaign is not affected.
> GET /campaigns/ID after 2 s
> GET /campaigns/ID after 4 s
> GET /campaigns/ID after 8 s
> GET /campaigns/ID after 16 s
> GET /campaigns/ID after 30 s
> GET /campaigns/ID after 30 s
! the service responds again
! 1 of 3 rows
> GET /campaigns/ID after 1 s
! The service at http://service does not respond (ECONNRESET). Trying again; the campaign is not affected.
> GET /campaigns/ID after 2 s
! the service responds again
> GET /campaigns/ID after 1 s
> GET /campaigns/ID after 1 s
! 3 of 3 rows, finished

the campaign has 3 rows of CSV, utf-8, separator ;
RESULT      ROWS
registered  3

the result of each row: campaigns result ID`,
    ],
    [
      'of an import that takes a while',
      'import FILE --yes',
      [
        checked({ accepted: 3 }),
        ...[3, 3, 2, 2, 1, 1, 1].map((accepted) => running({ accepted })),
        campaign({ registered: 3 }),
      ],
      `${BEGIN}! 0 of 3 rows
> GET /campaigns/ID after 1 s
> GET /campaigns/ID after 1 s
> GET /campaigns/ID after 1 s
> GET /campaigns/ID after 1 s
> GET /campaigns/ID after 1 s
! 2 of 3 rows
> GET /campaigns/ID after 1 s
> GET /campaigns/ID after 1 s
! 3 of 3 rows, finished

the campaign has 3 rows of CSV, utf-8, separator ;
RESULT      ROWS
registered  3

the result of each row: campaigns result ID`,
    ],
    ...(Object.keys(SAYS) as (keyof typeof SAYS)[]).map(
      (code): [string, string, Responses, string, Terminal] => [
        `of an import whose campaign is ${code}`,
        'import FILE --yes',
        [checked({ accepted: 3 }), running({ accepted: 3 }), lost, () => problem(400, code)],
        `${BEGIN}! <start>[---------------] 0 of 3 rows<clear>
> GET /campaigns/ID after 1 s
! <start><clear>
! The service at http://service does not respond (ECONNRESET). Trying again; the campaign is not affected.
! <start>[---------------] 0 of 3 rows<clear>
> GET /campaigns/ID after 2 s
! <start><clear>
! The campaign continues. See it:
!   campaigns show ID
! Pause it:
!   campaigns pause ID
! ${SAYS[code]}
= 1`,
        { progress: 30 },
      ],
    ),
    [
      'of an import until Ctrl-C',
      'import FILE --json --yes',
      [
        checked({ accepted: 3 }),
        running({ accepted: 3 }),
        () => (process.listeners('SIGINT').at(-1)!('SIGINT'), running({ accepted: 2 })),
      ],
      `> POST /campaigns?dryRun=true within any time text/csv its rows
> POST /campaigns within any time text/csv its rows
> GET /campaigns/ID after 1 s
! {"code":"interrupted","detail":"The campaign continues. See it:\\n  campaigns show ID\\nPause it:\\n  campaigns pause ID"}
= 130`,
    ],
    [
      'of events',
      `events tail --after 0 --types session.online,inverter.online --session-id ${ID.toUpperCase()}`,
      [
        stream(event(12, 'session.online'), event(12_345_678, 'inverter.online')),
        lost,
        () => problem(503, 'unavailable'),
        stream(event(13, 'session.online')),
        () => problem(400, 'invalid_request'),
      ],
      `> GET /events/stream?after=0&types=session.online,inverter.online&sessionId=ID within any time
     12  2026-06-15 11:59:48Z  session.online                 ID
12345678  2026-01-23 14:38:42Z  inverter.online                ID
> GET /events/stream?after=0&types=session.online,inverter.online&sessionId=ID within any time
! lost the stream (fetch failed); reconnecting
> GET /events/stream?after=0&types=session.online,inverter.online&sessionId=ID within any time
! lost the stream (unavailable: This is unavailable.); reconnecting
> GET /events/stream?after=0&types=session.online,inverter.online&sessionId=ID within any time
     13  2026-06-15 11:59:47Z  session.online                 ID
> GET /events/stream?after=0&types=session.online,inverter.online&sessionId=ID within any time
! invalid_request: This is invalid_request.
= 1`,
    ],
    [
      'of events as JSON',
      'events tail --json',
      [stream(event(12, 'session.online')), () => problem(401, 'unauthenticated')],
      `> GET /events/stream within any time
{"sequence":"00000000000000000012","time":"2026-06-15T11:59:48.000Z","type":"pv.session.online.v1","subject":"6c0d4d52-2
> GET /events/stream within any time
! {"status":401,"code":"unauthenticated","detail":"This is unauthenticated."}
= 1`,
    ],
    [
      'of events that cannot be read',
      'events tail',
      [lost],
      `> GET /events/stream within any time
! The service at http://service does not respond (ECONNRESET).
= 1`,
    ],
    [
      'of a session',
      `sessions show ${ID}`,
      [
        { id: ID, state: 'online', startUrl: 'https://secret', inverters: [] },
        {
          items: [
            event(4, 'session.started'),
            event(3, 'session.online', { previousState: 'awaiting_owner', rule: 'finished' }),
          ],
          next: 'n1',
        },
        {
          items: [
            event(2, 'inverter.online', { inverterId: OTHER, previousState: 'x' }),
            event(1, 'session.unread', { rule: 'r' }),
          ],
          next: 'n2',
        },
        { items: [], next: 'n2' },
      ],
      `> GET /onboarding/pv/ID
> GET /events?sessionId=ID&after=0&limit=200
> GET /events?sessionId=ID&after=n1&limit=200
> GET /events?sessionId=ID&after=n2&limit=200
id: ID
state: online
startUrl: not shown here; --json has it
inverters: []

TIME                  EVENT            DETAIL
2026-06-15 11:59:56Z  started          -
2026-06-15 11:59:57Z  online           was awaiting_owner; finished
2026-06-15 11:59:58Z  inverter.online  OTHER
2026-06-15 11:59:59Z  unread           r`,
    ],
    [
      'of a customer',
      'customers show --reference a%20b',
      [
        {
          items: [
            {
              tenantReference: 'a b',
              user: { id: ID },
              registration: { status: 'uncertain', email: 'x' },
              cases: [],
            },
            { tenantReference: 'c', user: null, registration: null, cases: [] },
          ],
        },
      ],
      `> GET /customers?tenantReference=a+b
tenantReference: a b
registration: uncertain

tenantReference: c
registration: null
`,
    ],
    [
      'of customers',
      'customers list --limit 2',
      [
        page(
          [
            {
              tenantReference: 'a',
              waitsFor: 'owner',
              since: ago(7_199),
              stalled: { cause: 'x' },
              brands: ['a', 'b', 'c'],
            },
            { tenantReference: 'b', waitsFor: 'nobody', since: null, stalled: null, brands: [] },
          ],
          'cc',
        ),
      ],
      `> GET /customers?limit=2
REFERENCE  WAITS FOR  SINCE  CAUSE  BRANDS
a          owner      1h     x      a +2
b          nobody     -      -      -
! there are more: add --cursor cc`,
    ],
    [
      'of ages',
      'users list',
      [page([0, 59, 60, 3_599, 3_600, 86_399, 86_400, -60, -61].map(user))],
      `> GET /users
ID                                    AGE    EAN   REFERENCE
ID  0s     a +2  r
ID  59s    a +2  r
ID  1m     a +2  r
ID  59m    a +2  r
ID  1h     a +2  r
ID  23h    a +2  r
ID  1d     a +2  r
ID  0s     a +2  r
ID  in 1m  a +2  r`,
    ],
    [
      'of a probe with a token',
      'credentials probe',
      [{ outcome: 'token_issued' }],
      `> POST /status/credentials/probe
outcome: token_issued`,
    ],
    [
      'of a probe that is refused',
      'credentials probe',
      [{ outcome: 'rejected' }],
      `> POST /status/credentials/probe
outcome: rejected
= 1`,
    ],
    [
      'of a failed test',
      `webhooks test ${ID} --json`,
      [{ delivered: false }],
      `> POST /webhook-endpoints/ID/test
{"delivered":false}
= 1`,
    ],
    [
      'of endpoints',
      'webhooks list',
      [
        page([
          endpoint({}),
          endpoint({ failures: 1 }),
          endpoint({ enabled: false, failures: 9, disabledReason: 'requested' }),
          endpoint({ enabled: false }),
          endpoint({ enabled: false, disabledReason: 'gone', url: 'x' }),
        ]),
      ],
      `> GET /webhook-endpoints
ID                                    STATE     PENDING  DESCRIPTION       ORIGIN
ID  enabled   3        of the whole te…  https://crm.example:8443
ID  retrying  3        of the whole te…  https://crm.example:8443
ID  disabled  3        of the whole te…  https://crm.example:8443
ID  disabled  3        of the whole te…  https://crm.example:8443
ID  gone      3        of the whole te…  x`,
    ],
    [
      'of deliveries',
      'webhooks deliveries',
      [page([delivery({ lastStatus: 503, lastError: 'x' }), delivery({ lastError: 'x' }), delivery({})])],
      `> GET /webhook-deliveries
ID                                    STATUS  TRIES  LAST   AGE  EVENT
ID  failed  2      503    2d   session.online
ID  failed  2      error  2d   session.online
ID  failed  2      -      2d   session.online`,
    ],
    [
      'of events that are sent again',
      `webhooks redeliver ${ID} --after 5 --until 9 --only-failed`,
      [{ redelivered: 2, next: '77' }],
      `> POST /webhook-endpoints/ID/redeliver application/json {"after":"5","until":"9","onlyFailed":true}
2 events are sent again
! there are more: repeat with --after 77`,
    ],
    [
      'of the last event that is sent again',
      `webhooks redeliver ${ID} --after 77`,
      [{ redelivered: 1, next: null }],
      `> POST /webhook-endpoints/ID/redeliver application/json {"after":"77"}
1 event is sent again`,
    ],
    [
      'of a new endpoint',
      'webhooks create https://crm.example --types all',
      [{ id: ID, secret: 'whsec_1', types: [] }],
      `> POST /webhook-endpoints application/json {"types":[],"url":"https://crm.example"}
! created ID; the secret is shown only once:
whsec_1`,
    ],
    [
      'of an endpoint that skips events',
      `webhooks update ${ID} --enable --skip-missed --types all,%20session.lost`,
      [{ id: ID }],
      `! At http://service: this skips all events that the endpoint ID missed. This cannot be undone.
! Type yes to confirm: 
> PATCH /webhook-endpoints/ID application/json {"types":["all","session.lost"],"enabled":true,"skipMissed":true}
id: ID`,
      { types: 'yes' },
    ],
    [
      'of an endpoint that is disabled',
      `webhooks update ${ID} --disable`,
      [{ id: ID }],
      `> PATCH /webhook-endpoints/ID application/json {"enabled":false}
id: ID`,
      { types: 'no' },
    ],
    [
      'of a secret that ends at once',
      `webhooks rotate-secret ${ID} --overlap-seconds 0`,
      [],
      `! At http://service: this ends all earlier secrets of the endpoint ID now. This cannot be undone.
! Type yes to confirm: 
! Not confirmed: nothing was changed.
= 1`,
      { types: '' },
    ],
    [
      'of a secret that ends later',
      `webhooks rotate-secret ${ID} --overlap-seconds 1`,
      [{ secret: 'whsec_2', previousSecretUntil: '2026-06-15T12:00:01.000Z' }],
      `> POST /webhook-endpoints/ID/rotate-secret application/json {"overlapSeconds":1}
! previousSecretUntil: 2026-06-15T12:00:01.000Z
! the secret is shown only once:
whsec_2`,
      { types: 'no' },
    ],
    [
      'of an erasure',
      `users erase ${ID}`,
      [{ id: ID, tenantReference: 'a\nb' }],
      `> GET /users/ID
! At http://service: this erases all personal data stored here for a\\u000ab: names, email, EANs, metadata, registrations and inverter ids. Its sessions are no longer watched. This cannot be undone.
! Type yes to confirm: 
! Not confirmed: nothing was changed.
= 1`,
      { types: 'no' },
    ],
    [
      'of a resolution',
      `registrations resolve ${ID} customers.csv`,
      [{ id: ID, status: 'registered' }],
      `! At http://service: this enters a user for the registration ID, and its grid locations. This cannot be undone.
! Type yes to confirm: 
> POST /registrations/ID/resolve application/json its rows
id: ID
status: registered`,
      { types: 'yes' },
    ],
    [
      'of a deletion',
      `webhooks delete ${ID}`,
      [endpoint({}), () => new Response(null, { status: 204 })],
      `> GET /webhook-endpoints/ID
! At http://service: this deletes the endpoint ID, its 3 pending deliveries and the log of all its deliveries. This cannot be undone.
! Type yes to confirm: 
> DELETE /webhook-endpoints/ID
! deleted ID`,
      { types: 'yes' },
    ],
    [
      'of a start anew',
      `sessions start ${ID} --no-reuse --metadata a=b --metadata c=d=e`,
      [{ id: OTHER, startUrl: 'https://secret' }],
      `> POST /onboarding/pv/ID application/json {"metadata":{"a":"b","c":"d=e"},"reuse":false}
id: OTHER
startUrl: not shown here; --json has it`,
    ],
    [
      'of a session that has no link any more',
      `sessions refresh ${ID}`,
      [{ id: ID, startUrl: null }],
      `> POST /onboarding/pv/ID/refresh
id: ID
startUrl: null`,
    ],
    [
      'of the end of the feed',
      'events list --after 7',
      [page([], '7')],
      `> GET /events?after=7
! none`,
    ],
    [
      'of rows with a problem',
      `campaigns rows ${ID} --problem required`,
      [page([rowWith(2, 'required', 'ean', 'too long')])],
      `> GET /campaigns/ID/rows?problem=required
LINE  STATUS   EAN  REFERENCE                 PROBLEMS
2     invalid  -    xxxxxxxxxxxxxxxxxxxxxxx…  ean: too long; ean: Also this`,
    ],
    [
      'of a decision about many in no status',
      'registrations retry-all --yes',
      [],
      `! error: required option '--status <status>' not specified
= 2`,
    ],
    [
      'of a number that is none',
      `webhooks rotate-secret ${ID} --overlap-seconds 1m`,
      [],
      `! error: option '--overlap-seconds <number>' argument '1m' is invalid. It must be a number.
= 2`,
    ],
    [
      'of headers that are not JSON',
      `webhooks update ${ID} --headers-file customers.csv`,
      [],
      `! The file of the headers is not JSON.
= 1`,
    ],
    [
      'of the result of a campaign',
      `campaigns result ${ID}`,
      ['a;b\n'],
      `> GET /campaigns/ID/result.csv within any time
a;b`,
    ],
  ])('%s is as expected', async (_, command, responses, expected, terminal = {}) => {
    jest.spyOn(process, 'cwd').mockReturnValue(folder);
    const inFolder = command.replace(/FILE|(?<= )customers\.\w+$|(?<= )customers\.\w+(?= )/, (name) =>
      join(folder, name === 'FILE' ? 'customers.csv' : name),
    );
    expect(await run(inFolder, responses, terminal)).toBe(expected);
  });
});

describe('an error', () => {
  it.each<[object, text: string, exitCode: number, json: object | undefined]>([
    [new CommandError('a', 'Two\nlines.', 3), 'Two\nlines.', 3, { code: 'a', detail: 'Two\nlines.' }],
    [new CommandError('a', 'Text.', 1, { other: 1 }), 'Text.', 1, { other: 1 }],
    [
      new CommanderError(1, 'commander.x', "error: unknown option '--x'"),
      '',
      2,
      { code: 'usage', detail: "unknown option '--x'" },
    ],
    [new CommanderError(0, 'commander.help', 'help'), '', 0, undefined],
    [
      new Problem('not_found', 'No user.', { errors: [] }),
      'not_found: No user.',
      1,
      { code: 'not_found', detail: 'No user.', errors: [] },
    ],
    [
      new ConfigurationError(['A is wrong'], []),
      expect.stringContaining('A is wrong') as never,
      1,
      { code: 'configuration', detail: expect.stringContaining('A is wrong') },
    ],
    [new MigrationError('Not ours.'), 'Not ours.', 1, { code: 'migration', detail: 'Not ours.' }],
    [
      Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
      'refused',
      1,
      { code: 'ECONNREFUSED', detail: 'refused' },
    ],
    [
      new RangeError('a bug'),
      expect.stringMatching(/^RangeError: a bug\n +at /) as never,
      1,
      { code: 'unexpected', detail: expect.stringMatching(/^RangeError: a bug/) },
    ],
  ])('%p is printed as text and as JSON, with its exit code', (error, text, exitCode, json) => {
    const printed: string[] = [];
    jest.spyOn(console, 'error').mockImplementation((line: string) => void printed.push(line));
    expect([report(error, false), printed.splice(0)]).toEqual([exitCode, text === '' ? [] : [text]]);
    expect([report(error, true), printed.map((line) => JSON.parse(line) as object)]).toEqual([
      exitCode,
      json ? [json] : [],
    ]);
  });
});

describe('the service of a command', () => {
  const KEY = 'pvo_own';
  it.each<[Record<string, string>, expected: string]>([
    [{ PV_ONBOARDING_URL: 'http://a/prefix//', PV_ONBOARDING_API_KEY: KEY }, 'http://a/prefix pvo_own'],
    [
      { PV_ONBOARDING_URL: 'http://a', ADMIN_API_KEY: 'pvo_admin' },
      'PV_ONBOARDING_API_KEY is required with PV_ONBOARDING_URL: set it to an API key.',
    ],
    ...['ftp://a', 'http://u:p@a', 'http://a?b', 'http://a#b', 'http://[', 'http://a b'].map(
      (url): [Record<string, string>, string] => [
        { PV_ONBOARDING_URL: url, PV_ONBOARDING_API_KEY: KEY },
        'PV_ONBOARDING_URL must be a URL that begins with http:// or https://, without credentials.',
      ],
    ),
    [{ NODE_ENV: 'production', ADMIN_API_KEY: 'pvo_admin' }, 'http://127.0.0.1:3000 pvo_admin'],
    [
      { NODE_ENV: 'production', ADMIN_API_KEY: 'pvo_admin', PORT: '80', PV_ONBOARDING_API_KEY: KEY },
      'http://127.0.0.1:80 pvo_own',
    ],
    ...[
      { NODE_ENV: 'production', PV_ONBOARDING_API_KEY: KEY },
      { NODE_ENV: 'test', ADMIN_API_KEY: KEY },
      {},
    ].map((variables): [Record<string, string>, string] => [
      variables as Record<string, string>,
      'No service runs in this folder: start it, or set PV_ONBOARDING_URL and PV_ONBOARDING_API_KEY.',
    ]),
    [
      { NODE_ENV: 'production', ADMIN_API_KEY: '\u0101' },
      'ADMIN_API_KEY has characters that are not allowed in an HTTP header, or is empty.',
    ],
    [
      { PV_ONBOARDING_URL: 'http://a', PV_ONBOARDING_API_KEY_FILE: '/nowhere' },
      'PV_ONBOARDING_API_KEY_FILE cannot be read (ENOENT).',
    ],
  ])('with %j is %s', async (variables, expected) => {
    jest.spyOn(process, 'cwd').mockReturnValue(folder);
    const keys: (string | null)[] = [];
    jest.spyOn(globalThis, 'fetch').mockImplementation(async (request) => {
      keys.push((request as Request).headers.get('authorization'));
      return Response.json({});
    });
    const found = await findApi(variables).catch((error: unknown) => (error as CommandError).message);
    if (typeof found !== 'string') await found.client.GET('/api/v1/brands');
    expect(typeof found === 'string' ? found : `${found.url} ${keys[0]?.replace('Bearer ', '')}`).toBe(
      expected,
    );
  });
});
