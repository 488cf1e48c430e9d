import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { checkRemoteCommand } from '../../../src/cli/check-remote/check-remote.command.js';
import { STAND_INS } from '../../../src/platform/env/read-environment.js';
import { RegistrationsService } from '../../../src/users/registration/registrations.service.js';
import { describeWith } from '../../setup/describe-with.js';
import { TestClient } from '../../setup/client.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { newValidEan } from '../../setup/ean.js';
import { findProgram } from '../../setup/receivers/programs.js';
import { startSandbox, startSandboxProcess, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { startTestApp, useTestApp } from '../../setup/test-app.js';
import { environmentFor, testEnvironment } from '../../setup/test-environment.js';
import { argumentsFor } from '../../setup/processes/test-process.js';

interface Result {
  readonly exitCode: number;
  readonly findings: readonly {
    check: string;
    level: string;
    saw: string;
    means: string;
    setting?: string;
  }[];
  readonly settings: readonly string[];
  readonly notAsked: readonly string[];
}

afterEach(() => {
  jest.restoreAllMocks();
  // The command sets the exit code of its process, which is Jest's here.
  process.exitCode = undefined;
});

/** Runs the command without a terminal and returns what it printed. */
async function printed(environment: ReturnType<typeof environmentFor>, ...args: string[]): Promise<string> {
  const lines: string[] = [];
  jest.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  jest.spyOn(console, 'error').mockImplementation(() => {});
  await checkRemoteCommand(() => environment).parseAsync(args, { from: 'user' });
  return lines.join('\n');
}

const check = async (environment: ReturnType<typeof environmentFor>, ...args: string[]): Promise<Result> =>
  JSON.parse(await printed(environment, ...args, '--json')) as Result;

const differences = ({ findings }: Result) =>
  findings
    .filter(({ level }) => level !== 'fits')
    .map(({ check, level, means, setting }) => `${level} ${check}: ${setting ?? means}`);

/** With this timeout, no response counts as slow that the machine delays for less than 25 seconds. */
const SCS_TIMEOUT_MS = 50_000;
const PATIENT = { SCS_TIMEOUT_MS: String(SCS_TIMEOUT_MS) };

const newFile = () => join(tmpdir(), `${randomUUID()}.json`);

/** What is planted in each recorded service, and the advice about it. */
const SERVICES: Readonly<Record<string, readonly string[]>> = {
  terse: [
    'differs token.form: A proxy on the way may refuse a header of this length.',
    'differs token.token_type: No consequence: the token is always sent as Bearer.',
    'differs refusal.missing_key: A refusal without a JSON object looks as if',
    'differs refusal.wrong_key: A refusal without a JSON object looks as if',
    'differs read.path: SCS_SESSION_PATH=onboarding',
  ],
  gateway: [
    'differs token.form: It ends before expires_in.',
    'differs token.expires_in: We read it as this. Confirm it with the provider.',
    'differs probe: The probe is not served',
    'differs refusal.missing_key: A refusal without a JSON object looks as if',
    'differs limits: SCS_MAX_REQUESTS_PER_SECOND=<requests per second>',
    'differs read.path: SCS_SESSION_PATH=user',
  ],
  loose: [
    'differs user.gridLocations[].ean: We can read it.',
    'differs user.email: We do without it.',
    'differs user.phone: Ignored.',
    'differs user.times: We read this form as well.',
    'differs session.times: We read this form as well.',
    'differs session.lifetime: The link of an owner works for this time.',
    'differs read.expired: We do without it.',
  ],
  strict: [
    'differs token.expires_in: We assume 15 minutes',
    'differs token.token_type: No consequence',
    'differs token.second: Use these credentials in one deployment only',
    'differs refusal.unknown_session: A session that is gone is refused like a wrong token.',
    'differs refusal.wrong_key: A wrong key is not recognised as one.',
  ],
};

describe.each(Object.keys(SERVICES))('a service with the habits of %s', (name) => {
  let database: TestDatabase;
  let sandbox: TestSandbox;
  let environment: ReturnType<typeof environmentFor>;
  const reference = `check-${name}`;
  const ean = newValidEan();

  beforeAll(async () => {
    database = await createTestDatabase();
    sandbox = await startSandbox();
    const file = new URL(`../../setup/recordings/${name}.json`, import.meta.url);
    await sandbox.control.like(JSON.parse(await readFile(file, 'utf8')) as object);
    environment = environmentFor(database.url, { ...sandbox.environment, ...PATIENT });
  });
  afterAll(async () => {
    await sandbox.stop();
    await database.drop();
  });

  it('is told apart by every difference, with its advice, and a recording reproduces it', async () => {
    const record = newFile();
    const args = ['--register', reference, '--ean', ean, '--yes'];
    expect((await check(environment)).notAsked).toEqual([
      expect.stringContaining('give --yes to ask without a terminal'),
      expect.stringContaining('give --register and --ean'),
    ]);
    const result = await check(environment, ...args, '--record', record);
    const expected = SERVICES[name]!;
    expect(differences(result).toSorted()).toEqual(
      expected.toSorted().map((text) => expect.stringContaining(text)),
    );
    expect(result.exitCode).toBe(3);
    const further = differences(await check(environment, ...args));
    expect(differences(result)).toEqual(expect.arrayContaining(further));
    expect(further).toEqual(
      expect.arrayContaining(differences(result).filter((text) => /user\.(email|phone)/.test(text))),
    );

    const copy = await startSandbox();
    const copied = await createTestDatabase();
    await copy.control.like(JSON.parse(await readFile(record, 'utf8')) as object);
    const again = await check(environmentFor(copied.url, { ...copy.environment, ...PATIENT }), ...args);
    expect(differences(again)).toEqual(differences(result));
    await Promise.all([rm(record), copy.stop(), copied.drop()]);
  });

  it('takes a customer from registration to online', async () => {
    const service = await startTestApp({
      DATABASE_URL: database.url,
      SCS_BASE_URL: sandbox.environment.SCS_BASE_URL,
    });
    const client = TestClient.of(service);
    try {
      const { id } = await client.startNew();
      await sandbox.control.complete(id, { onlineAfterMs: 0 });
      await client.untilState(id, 'online');
    } finally {
      await service.close();
    }
  });
});

describe('a service that cannot be used', () => {
  const BEFORE = { differences: [], times: null, status: 201 };
  const IN_THE_WAY = 'The response may be unusable because of it.';
  const STARTED =
    'fails start.request: A start opens a session there, but this service cannot read the response';
  it.each([
    {
      because: 'its ids are numbers',
      like: { user: { ...BEFORE, differences: [{ kind: 'other_type', field: 'id', found: 'number' }] } },
      expected: ['fails user.request: The user exists there, but', `differs user.id: ${IN_THE_WAY}`],
    },
    {
      because: 'its times have no zone',
      like: {
        start: { ...BEFORE, times: { fractionDigits: 3, zone: 'none' }, lifetimeSeconds: null },
      },
      expected: [
        STARTED,
        ...['createdAt', 'updatedAt', 'expiresAt'].map((name) => `differs start.${name}: ${IN_THE_WAY}`),
      ],
    },
    {
      because: 'its flags are words',
      like: {
        start: {
          ...{ ...BEFORE, lifetimeSeconds: null },
          differences: [{ kind: 'other_type', field: 'active', found: 'string' }],
        },
      },
      expected: [STARTED, `differs start.active: ${IN_THE_WAY}`],
    },
    {
      because: 'its inverters are texts',
      like: {
        read: { ...BEFORE, differences: [{ kind: 'other_type', field: 'inverters', found: 'string' }] },
      },
      expected: ['fails read.request: No session can be read', `differs read.inverters: ${IN_THE_WAY}`],
    },
  ])('is told by what is in the way, and is reproduced, if $because', async ({ like, expected }) => {
    const file = new URL('../../setup/recordings/loose.json', import.meta.url);
    const none = { user: null, start: null, read: null };
    const recording = { ...(JSON.parse(await readFile(file, 'utf8')) as object), ...none, ...like };
    const record = newFile();
    const sandbox = await startSandbox();
    const databases = [await createTestDatabase(), await createTestDatabase()];
    const run = (n: number, ...args: string[]) => {
      const environment = environmentFor(databases[n]!.url, { ...sandbox.environment, ...PATIENT });
      return check(environment, '--register', `unusable-${n}`, '--ean', newValidEan(), '--yes', ...args);
    };
    await sandbox.control.like(recording);
    const first = await run(0, '--record', record);
    expect(differences(first)).toEqual(expected.map((text) => expect.stringContaining(text)));
    expect(first.exitCode).toBe(1);
    await sandbox.control.like(JSON.parse(await readFile(record, 'utf8')) as object);
    expect(differences(await run(1))).toEqual(differences(first));
    await Promise.all([rm(record), sandbox.stop(), ...databases.map((database) => database.drop())]);
  });
});

describe('check-remote', () => {
  const service = useTestApp({ SCS_TIMEOUT_MS });
  const liveEan = newValidEan();

  it('finds nothing that differs from the interface in the sandbox, and asks nothing that might hurt while a service runs', async () => {
    await TestClient.of(service).locate();
    const args = ['--register', 'check-live', '--ean', liveEan, '--yes'];
    const result = await check(service.environment, ...args);
    expect(differences(result)).toEqual([]);
    expect(result.exitCode).toBe(0);
    expect(result.notAsked).toContainEqual(expect.stringContaining('the service runs on this database'));
    const { tokens } = await service.sandbox!.control.ledger();
    expect(tokens).toHaveLength(1);
    const client = TestClient.of(service);
    const [user] = await client.list<{ id: string }>('/users?tenantReference=check-live');
    const [session] = await client.list<{ id: string }>(`/onboarding/pv?userId=${user!.id}`);
    const log = await client.list<object>('/audit-log');
    for (const [action, target] of [
      ['remote_check.registered', user!.id],
      ['remote_check.started', session!.id],
    ])
      expect(log).toContainEqual(expect.objectContaining({ actor: 'cli', action, target }));
  });

  it('registers nobody twice, and starts no second session, in a further run', async () => {
    const before = await service.sandbox!.control.ledger();
    const result = await check(service.environment, '--register', 'check-live', '--ean', liveEan, '--yes');
    for (const name of ['user.request', 'start.request'])
      expect(result.findings).toContainEqual(
        expect.objectContaining({ check: name, saw: 'done earlier, and not repeated' }),
      );
    const other = await check(
      service.environment,
      '--register',
      'check-live',
      '--ean',
      newValidEan(),
      '--yes',
    );
    expect([other.exitCode, differences(other)]).toEqual([
      1,
      [expect.stringContaining('fails user.request: ')],
    ]);
    const { users, sessions } = await service.sandbox!.control.ledger();
    expect({ users, sessions }).toEqual({ users: before.users, sessions: before.sessions });
  });

  it('takes no bug for a refusal', async () => {
    jest.spyOn(RegistrationsService.prototype, 'register').mockRejectedValue(new Error('a bug'));
    const result = check(service.environment, '--register', 'bug', '--ean', newValidEan(), '--yes');
    await expect(result).rejects.toThrow('a bug');
  });

  it('says of what kind a response is that is no JSON', async () => {
    const { control } = service.sandbox!;
    await control.addFault({ operation: 'read_session', kind: 'html', status: 418, times: null });
    const args = ['--register', 'check-live', '--ean', liveEan, '--yes'];
    const { findings } = await check(service.environment, ...args);
    await control.clearFaults();
    const saw = 'onboarding path: status 418 with text/html; user path: status 418 with text/html';
    expect(findings).toContainEqual(expect.objectContaining({ check: 'read.request', saw }));
  });

  it('sends no registration again whose response was lost', async () => {
    await service.sandbox!.control.addFault({ kind: 'truncate', operation: 'register_user' });
    const args = ['--register', 'check-lost', '--ean', newValidEan(), '--yes'];
    for (let run = 1; run <= 2; run++) {
      const result = await check(service.environment, ...args);
      expect(result.exitCode).toBe(1);
      expect(result.findings).toContainEqual(
        expect.objectContaining({ check: 'user.request', saw: expect.stringContaining('is uncertain') }),
      );
    }
    const { users } = await service.sandbox!.control.ledger();
    expect(users.filter(({ tenantReference }) => tenantReference === 'check-lost')).toHaveLength(1);
  });

  it('changes nothing without --register', async () => {
    const before = await service.sandbox!.control.ledger();
    expect((await check(service.environment)).exitCode).toBe(0);
    const { users, sessions, tokens } = await service.sandbox!.control.ledger();
    expect({ users, sessions, tokens }).toEqual({
      users: before.users,
      sessions: before.sessions,
      tokens: before.tokens,
    });
  });

  it('prints a table, and writes a page for the provider without secrets and personal data', async () => {
    const report = newFile();
    const ean = newValidEan();
    const args = ['--register', 'Jansen-1042', '--ean', ean, '--yes', '--report', report];
    const text = await printed(service.environment, ...args);
    expect(text).toContain('interface says');
    expect(text).toContain('what it means for you');
    const page = await readFile(report, 'utf8');
    expect(page).toContain('## Questions that stay open');
    const { SCS_API_KEY, SCS_CLIENT_ID, SCS_CLIENT_SECRET } = service.environment;
    for (const secret of [SCS_API_KEY, SCS_CLIENT_ID, SCS_CLIENT_SECRET, 'Jansen', ean])
      expect(page + text).not.toContain(secret);
    expect(page + text).not.toMatch(/pv-onboarding\/[^<]/);
    await expect(printed(service.environment, '--report', report)).rejects.toMatchObject({ exitCode: 2 });
    await rm(report);
  });

  it('prints what it has seen, also if its files cannot be written', async () => {
    const file = join(newFile(), 'report.md');
    await expect(printed(service.environment, '--report', file, '--record', newFile())).rejects.toMatchObject(
      {
        code: 'not_written',
        message: expect.stringContaining(file),
      },
    );
    expect(jest.mocked(console.log).mock.calls.join('\n')).toContain('interface says');
  });

  it.each([
    [['--register', 'A'], 'Give --register and --ean together.'],
    [['--register', 'A', '--ean', '12'], '--ean'],
    [['--register', ' ', '--ean', '541448860000000013'], '--register: a tenantReference '],
    [['--register', 'A', '--ean', '541448860000000013'], 'Give --yes to register without a terminal.'],
  ])('refuses %j', async (args, message) => {
    await expect(printed(service.environment, ...args)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(message),
    });
  });

  it('looks at no service if none is named', async () => {
    const { DATABASE_URL } = service.environment;
    const environment = environmentFor(DATABASE_URL, { SCS_BASE_URL: STAND_INS.SCS_BASE_URL });
    await expect(printed(environment)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('Set SCS_BASE_URL,'),
    });
  });

  it.each([
    [{ SCS_BASE_URL: 'http://127.0.0.1:9' }, 'fails probe: The remote service cannot be reached'],
    [{ SCS_CLIENT_SECRET: 'another-secret' }, 'fails token.request: Check SCS_API_KEY'],
    [{ SCS_BASE_URL: 'https://absent.invalid' }, 'fails network.name: Correct SCS_BASE_URL'],
  ])('registers nobody with %j', async (settings, advice) => {
    const { DATABASE_URL, SCS_BASE_URL } = service.environment;
    const environment = environmentFor(DATABASE_URL, { SCS_BASE_URL, ...settings });
    const before = await service.sandbox!.control.ledger();
    const result = await check(environment, '--register', 'nobody', '--ean', newValidEan(), '--yes');
    expect(result.exitCode).toBe(1);
    expect(differences(result)).toContainEqual(expect.stringContaining(advice));
    expect((await service.sandbox!.control.ledger()).users).toEqual(before.users);
  });
});

describeWith(
  findProgram('script', 'SCRIPT'),
  'script (of bsdutils, or SCRIPT)',
  'check-remote at a terminal',
  (script) => {
    const PROMPT = 'Type yes to confirm: ';
    const [CTRL_C, END] = ['\x03', '\x04'];
    const NOTHING = { users: 0, sessions: 0, hasRenewed: false };
    let database: TestDatabase;
    let sandbox: TestSandbox;
    beforeAll(async () => {
      database = await createTestDatabase();
      sandbox = await startSandbox();
    });
    afterAll(async () => {
      await sandbox.stop();
      await database.drop();
    });

    /** Runs the command in a pseudo-terminal, and types an answer at each prompt. `ledger`: what it has caused at the remote service. */
    async function type(...answers: readonly string[]) {
      const before = await sandbox.control.ledger();
      const words = [process.execPath, ...argumentsFor('src/cli/main.ts'), 'check-remote'];
      const command = [...words, '--register', randomUUID(), '--ean', newValidEan()].join(' ');
      const child = spawn(script, ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
        cwd: tmpdir(),
        env: {
          ...{ PATH: process.env.PATH, TERM: 'xterm', SHELL: '/bin/sh' },
          ...{ ...testEnvironment(), ...sandbox.environment, ...PATIENT, DATABASE_URL: database.url },
        },
      });
      const ended = once(child, 'close') as Promise<[number]>;
      const left = [...answers];
      let [text, seen] = ['', 0];
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const prompts = text.split(PROMPT).length - 1;
        if (prompts > seen) child.stdin.write(left.shift() ?? END);
        seen = prompts;
      });
      const [exitCode] = await ended;
      const { users, sessions, tokens } = await sandbox.control.ledger();
      const more = {
        users: users.length - before.users.length,
        sessions: sessions.length - before.sessions.length,
        hasRenewed: tokens.length - before.tokens.length > 1,
      };
      return { exitCode, text, prompts: seen, more };
    }

    it('says what remains for ever, and does it once it is confirmed', async () => {
      const { text, ...ended } = await type('yes\r', 'YES\r');
      expect(text).toMatch(/a second token may end the first[^]*both remain there for ever/);
      expect(text).toContain('what it means for you');
      const more = { users: 1, sessions: 1, hasRenewed: true };
      expect(ended).toMatchObject({ exitCode: 0, prompts: 2, more });
    });

    it('does nothing of it after another word and after the end of the input, and prints what it has seen', async () => {
      const { text, ...ended } = await type('y\r', END);
      expect(ended).toEqual({ exitCode: 0, prompts: 2, more: NOTHING });
      expect(text).toMatch(/whether a second token ends the first: not confirmed\./);
      expect(text).toContain('Registration, start and reads: not confirmed.');
      expect(text).toContain('what it means for you');
    });

    it('ends at Ctrl-C, and asks nothing more', async () => {
      const { text, ...ended } = await type(CTRL_C);
      expect(ended).toEqual({ exitCode: 130, prompts: 1, more: NOTHING });
      expect(text).not.toContain('what it means for you');
    });
  },
);

it('the sandbox, with --like, behaves like the recorded service, also after a reset', async () => {
  const { pathname } = new URL('../../setup/recordings/terse.json', import.meta.url);
  const sandbox = await startSandboxProcess({}, ['--like', pathname]);
  await sandbox.control.reset();
  const probe = await fetch(`${sandbox.url}/api/v1/ssa`);
  expect([probe.status, await probe.text()]).toEqual([403, '']);
  await sandbox.stop();
  await expect(startSandboxProcess({}, ['--like', new URL(import.meta.url).pathname])).rejects.toThrow(
    'The recording cannot be used: it is not JSON',
  );
});
