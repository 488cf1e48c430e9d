import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scheduleOf } from '../../src/invitations/reminders/reminder.rules.js';
import { RemindersStore } from '../../src/invitations/reminders/reminders.store.js';
import { Database } from '../../src/platform/database/database.js';
import { TestClient } from '../setup/client.js';
import { freePort } from '../setup/receivers/programs.js';
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
async function run(program: readonly string[], env: Record<string, string> = {}): Promise<Program> {
  const port = await freePort();
  const child = spawn(process.execPath, program, {
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
  const database = service.app.get(Database);
  await database.query(
    `UPDATE invitations SET created_at = created_at - interval '3 days', reminder_due_at = clock_timestamp() WHERE id = $1`,
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
    const { url } = await remind('customer-1', 'nl');
    const delivery = await waitFor('the event to be delivered', async () => {
      const { body } = await client.call<{ items: { id: string; status: string; lastAttemptAt: string }[] }>(
        'GET',
        `/webhook-deliveries?endpointId=${receiver.endpointId}`,
      );
      return body.items.find(({ status }) => status === 'delivered');
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
    const database = service.app.get(Database);
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

describe('docs/webhooks.md', () => {
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
