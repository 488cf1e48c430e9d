import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { scheduleOf } from '../../src/invitations/reminders/reminder.rules.js';
import { RemindersStore } from '../../src/invitations/reminders/reminders.store.js';
import { describeWith } from '../setup/describe-with.js';
import { useFolder } from '../setup/folder.js';
import { TestClient } from '../setup/client.js';
import { createTestDatabase } from '../setup/database/test-database.js';
import { newEan } from '../setup/ean.js';
import { freePort } from '../../src/local/free-port.js';
import { findProgram } from '../setup/receivers/programs.js';
import { startTestApp, type TestApp } from '../setup/test-app.js';
import { waitFor } from '../setup/wait-for.js';
import { blockOf, readPage, ROOT } from './pages.js';
import { ReminderMailsModule } from './reminders.example.js';

const SECRET = `whsec_${Buffer.alloc(32, 'secret of reminders').toString('base64')}`;

interface Program {
  readonly port: number;
  output(): string;
}

let service: TestApp;
let client: TestClient;
const children: ChildProcess[] = [];

beforeAll(async () => {
  service = await startTestApp({ LOG_LEVEL: 'error' }, { modules: [ReminderMailsModule] });
  client = TestClient.of(service);
});
afterAll(async () => {
  const exits = children.map((child) => once(child, 'exit'));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all([service.close(), ...exits]);
});

/** Runs an example on a free port, and waits until it listens. */
async function run(
  program: readonly string[],
  env: Record<string, string> = {},
  by = process.execPath,
): Promise<Program> {
  const port = await freePort();
  const child = spawn(by, program, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, PORT: String(port), ...env },
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await waitFor('the program to listen', async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
    return true;
  });
  return { port, output: () => output };
}

/** Invites a customer, and lets the first reminder fall due. */
async function remind(tenantReference: string, locale: string) {
  await client.locate(tenantReference);
  const { body } = await client.call<{ id: string; url: string }>('POST', '/invitations', {
    tenantReference,
    locale,
  });
  const database = service.database;
  await database.query(
    `UPDATE invitations SET created_at = created_at - interval '3 days', reminder_due_at = clock_timestamp() - interval '1 ms' WHERE id = $1`,
    [body.id],
  );
  await service.app.get(RemindersStore).remind(scheduleOf([48], 'UTC', 'off'));
  return body;
}

describe('the examples of reminders', () => {
  it('send one mail with the link, in the language of the owner, although the event is delivered twice', async () => {
    const catcher = await run(['test/docs/smtp-catcher.example.mjs']);
    const receive = async (scopes: readonly string[]) => {
      const { body } = await client.call<{ key: string }>('POST', '/api-keys', { name: 'mailing', scopes });
      const receiver = await run(['test/docs/reminder-mail.example.mjs'], {
        API: `${service.url}/api/v1`,
        KEY: body.key,
        WEBHOOK_SECRET: SECRET,
        SMTP_URL: `smtp://127.0.0.1:${catcher.port}`,
      });
      const endpoint = await client.call<{ id: string }>('POST', '/webhook-endpoints', {
        url: `http://127.0.0.1:${receiver.port}/`,
        secret: SECRET,
        types: ['invitation.reminder_due'],
      });
      return { ...receiver, endpointId: endpoint.body.id };
    };
    const [receiver, withoutLinks] = await Promise.all([
      receive(['onboarding:read', 'links:read']),
      receive(['onboarding:read']),
    ]);
    const { url } = await remind('customer-1001', 'nl');
    const delivery = await waitFor('the event to be delivered', async () => {
      const items = await client.list<{ id: string; status: string; lastAttemptAt: string }>(
        `/webhook-deliveries?endpointId=${receiver.endpointId}`,
      );
      return items.find(({ status }) => status === 'delivered');
    });
    await client.call('POST', `/webhook-deliveries/${delivery.id}/redeliver`);
    await waitFor('the event to be delivered again', async () => {
      const { body } = await client.call<{ status: string; lastAttemptAt: string }>(
        'GET',
        `/webhook-deliveries/${delivery.id}`,
      );
      return body.status === 'delivered' && body.lastAttemptAt !== delivery.lastAttemptAt;
    });
    await waitFor('the other receiver to refuse the event', () =>
      withoutLinks.output().includes('KEY lacks the scope links:read'),
    );
    // Joins the lines that the mail has wrapped.
    const mails = catcher.output().replace(/=\r?\n/g, '');
    expect(mails.split('To: ann@example.com')).toHaveLength(2);
    expect(mails.split(url)).toHaveLength(2);
    expect(mails).toContain('Subject: Uw zonnepanelen zijn nog niet gekoppeld');
    const forged = await fetch(`http://127.0.0.1:${receiver.port}/`, { method: 'POST', body: '{}' });
    expect(forged.status).toBe(401);
    expect(receiver.output()).toBe('');
  });

  it('write the mail in the process, once', async () => {
    const database = service.database;
    await database.query(
      `CREATE TABLE reminder_mails (event_id uuid PRIMARY KEY, invitation_id uuid, customer text, locale text, cause text, is_last boolean)`,
    );
    const { id } = await remind('customer-2', 'fr');
    const find = () => database.query('SELECT * FROM reminder_mails WHERE invitation_id = $1', [id]);
    const rows = await waitFor('the mail to be written', async () => {
      const found = await find();
      return found.length > 0 && found;
    });
    expect(rows).toEqual([
      expect.objectContaining({
        customer: 'customer-2',
        locale: 'fr',
        cause: 'never_opened',
        is_last: false,
      }),
    ]);
  });
});

async function sendTest(url: string, secret: string) {
  const { body } = await client.call<{ id: string }>('POST', '/webhook-endpoints', {
    url,
    secret,
    // No such event occurs here.
    types: ['session.online'],
  });
  return (
    await client.call<{ delivered: boolean; status: number | null }>(
      'POST',
      `/webhook-endpoints/${body.id}/test`,
    )
  ).body;
}

/** Sends the same event twice. Returns the statuses of the responses. */
async function sendTwice(url: string): Promise<number[]> {
  const id = randomUUID();
  const event = { id, type: 'pv.session.online.v1', subject: 's', sequence: '1', data: {} };
  const body = JSON.stringify(event);
  const at = new Date();
  const headers = {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(SECRET).sign(id, at, body),
  };
  const send = async () => (await fetch(url, { method: 'POST', headers, body })).status;
  return [await send(), await send()];
}

describe('the app of a supplier in NestJS', () => {
  it('registers and starts a customer, and stores each genuine event once', async () => {
    const database = await createTestDatabase('empty');
    try {
      const app = await run(
        ['--import', './test/setup/compile/typescript.mjs', 'examples/nestjs/src/main.ts'],
        {
          DATABASE_URL: database.url,
          PV_URL: service.url,
          PV_KEY: service.adminKey,
          WEBHOOK_SECRETS: SECRET,
        },
      );
      const url = `http://127.0.0.1:${app.port}`;
      const types = ['user.registered', 'session.started', 'session.online'];
      const endpoint = { url: `${url}/webhooks`, secret: SECRET, types };
      const { body: created } = await client.call<{ id: string }>('POST', '/webhook-endpoints', endpoint);
      const post = async (reference: string, ean: string) =>
        fetch(`${url}/customers`, { method: 'POST', body: new URLSearchParams({ reference, ean }) });
      const read = async (path: string) => (await fetch(url + path)).text();
      const reference = 'a & <b>';
      const ean = newEan();
      const pages = [await post(` ${reference} `, ean), await post(reference, ean)];
      expect(pages.map(({ status, url: at }) => [status, at])).toEqual(
        Array(2).fill([200, `${url}/customers/a%20%26%20%3Cb%3E`]),
      );
      const page = await waitFor('the events to arrive', async () => {
        const text = await read('/customers/a%20%26%20%3Cb%3E');
        return text.includes('pv.session.started.v1') && text;
      });
      expect(page).toMatch(
        /<h1>a &amp; &lt;b&gt;<\/h1><a href="http:[^"]+".*<li>pv.session.started.v1<\/li><li>pv.user.registered.v1<\/li>/,
      );
      expect(await read('/')).toContain('>a &amp; &lt;b&gt;</a> pv.session.started.v1');
      expect((await post('b', '123')).status).toBe(400);
      expect((await fetch(`${url}/webhooks`, { method: 'POST', body: '{}' })).status).toBe(401);
      const test = await client.call('POST', `/webhook-endpoints/${created.id}/test`);
      expect(test.body).toMatchObject({ delivered: true, status: 204 });
      expect(await sendTwice(`${url}/webhooks`)).toEqual([204, 204]);
      expect(await database.open().query('SELECT type FROM events ORDER BY type')).toEqual([
        { type: 'pv.session.online.v1' },
        { type: 'pv.session.started.v1' },
        { type: 'pv.user.registered.v1' },
        { type: 'pv.webhook_endpoint.test.v1' },
      ]);
    } finally {
      await database.drop();
    }
  });
});

describe('docs/webhooks.md', () => {
  it('has a receiver that accepts genuine webhooks only', async () => {
    const text = blockOf(await readPage('docs/webhooks.md'), 'receiver: library');
    const receiver = await run(['--input-type=module', '--eval', text], { WEBHOOK_SECRET: SECRET });
    const url = `http://127.0.0.1:${receiver.port}/webhooks`;
    expect(await sendTest(url, SECRET)).toMatchObject({ delivered: true, status: 204 });
    expect(receiver.output()).toMatch(/^pv\.webhook_endpoint\.test\.v1 [0-9a-f-]{36}\n$/);
    const other = `whsec_${Buffer.alloc(32, 'another').toString('base64')}`;
    expect(await sendTest(url, other)).toMatchObject({ delivered: false, status: 401 });
  });
});

describeWith(findProgram('python3', 'PYTHON'), 'python3 (or PYTHON)', 'the examples in Python', (python) => {
  const sqlite = (file: string, statement: string): unknown =>
    JSON.parse(
      execFileSync(
        python,
        [
          '-c',
          'import json, sqlite3, sys; print(json.dumps(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall()))',
          file,
          statement,
        ],
        { encoding: 'utf8' },
      ),
    );
  const folder = useFolder();

  it('keep each genuine event once', async () => {
    const file = join(folder, 'events.db');
    const env = { WEBHOOK_SECRET: SECRET, DATABASE: file };
    const receiver = await run(['examples/python/receive_webhooks.py'], env, python);
    const url = `http://127.0.0.1:${receiver.port}/`;
    expect(await sendTest(url, SECRET)).toMatchObject({ delivered: true, status: 200 });
    const other = `whsec_${Buffer.alloc(32, 'another').toString('base64')}`;
    expect(await sendTest(url, other)).toMatchObject({ delivered: false, status: 401 });
    expect(await sendTwice(url)).toEqual([200, 200]);
    expect(sqlite(file, 'SELECT type FROM events ORDER BY id')).toEqual(
      expect.arrayContaining([['pv.session.online.v1'], ['pv.webhook_endpoint.test.v1']]),
    );
    expect(sqlite(file, 'SELECT count(*) FROM events')).toEqual([[2]]);
  });

  it('register the customers of a file once, and none of a file with an invalid row', async () => {
    const [good, bad, result] = ['good.csv', 'bad.csv', 'result.csv'].map((name) => join(folder, name));
    const rows = Array.from({ length: 100 }, (_, i) => `python-${i},${newEan()}`);
    await writeFile(good!, ['tenantReference,ean', ...rows].join('\n'));
    await writeFile(bad!, ['tenantReference,ean', 'python-x,123'].join('\n'));
    const { body } = await client.call<{ key: string }>('POST', '/api-keys', {
      name: 'import',
      scopes: ['users:read', 'users:write'],
    });
    const load = async (...files: string[]) => {
      const child = spawn(python, ['examples/python/import_customers.py', ...files], {
        cwd: ROOT,
        env: { PATH: process.env.PATH, API: `${service.url}/api/v1`, KEY: body.key },
      });
      const texts = [child.stdout, child.stderr].map(async (stream) => (await stream.toArray()).join(''));
      const [code] = (await once(child, 'exit')) as [number];
      return { code, text: (await Promise.all(texts)).join('') };
    };
    expect(await load(bad!)).toEqual({
      code: 1,
      text: expect.stringMatching(
        /^line 2, ean: .*18 digits.*\n1 of 1 rows are invalid: nothing was registered\n$/,
      ),
    });
    expect(await load(good!, result!)).toMatchObject({
      code: 0,
      text: expect.stringMatching(/100 registered\n$/),
    });
    expect(await load(good!)).toMatchObject({ code: 0 });
    expect((await readFile(result!, 'utf8')).match(/registered/g)).toHaveLength(100);
    const campaigns = await client.list<{ dryRun: boolean }>('/campaigns');
    expect(campaigns.filter(({ dryRun }) => !dryRun)).toHaveLength(1);
  }, 60_000);
});
