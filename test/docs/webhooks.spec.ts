import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EVENT_NAMES } from '../../src/events/catalogue.rules.js';
import { Environment } from '../../src/platform/env/environment.js';
import { TestClient } from '../setup/client.js';
import { startTestApp, type TestApp } from '../setup/test-app.js';
import { waitFor } from '../setup/wait-for.js';
import { freePort } from '../setup/receivers/programs.js';
import { startWebhookReceiver } from '../setup/receivers/webhook-receiver.js';
import { anchorsOf, blockOf } from './readme.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECRET = `whsec_${Buffer.alloc(32, 'secret of the docs').toString('base64')}`;

interface Tested {
  readonly delivered: boolean;
  readonly status: number | null;
}

const durationText = (ms: number): string =>
  ms < 60_000 ? `${ms / 1_000} seconds` : ms < 3_600_000 ? `${ms / 60_000} minutes` : `${ms / 3_600_000}`;

describe('docs/webhooks.md', () => {
  let text: string;
  let service: TestApp;
  let client: TestClient;

  beforeAll(async () => {
    text = await readFile(`${ROOT}/docs/webhooks.md`, 'utf8');
    service = await startTestApp({ ROLE: 'api', LOG_LEVEL: 'error' });
    client = TestClient.of(service);
  });
  afterAll(() => service.close());

  async function sendTest(url: string, secret: string): Promise<Tested> {
    const { body } = await client.call<{ id: string }>('POST', '/webhook-endpoints', { url, secret });
    return (await client.call<Tested>('POST', `/webhook-endpoints/${body.id}/test`)).body;
  }

  it('has a receiver that accepts genuine webhooks only', async () => {
    const port = await freePort();
    const receiver: ChildProcess = spawn(
      process.execPath,
      ['--input-type=module', '--eval', blockOf(text, 'receiver: library')],
      { cwd: ROOT, env: { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: SECRET } },
    );
    let output = '';
    receiver.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    try {
      const url = `http://127.0.0.1:${port}/webhooks`;
      await waitFor('the receiver to listen', () => fetch(url, { method: 'POST' }).catch(() => null));
      expect(await sendTest(url, SECRET)).toMatchObject({ delivered: true, status: 204 });
      expect(output).toMatch(/^pv\.webhook_endpoint\.test\.v1 [0-9a-f-]{36}\n$/);
      const other = `whsec_${Buffer.alloc(32, 'another').toString('base64')}`;
      expect(await sendTest(url, other)).toMatchObject({ delivered: false, status: 401 });
    } finally {
      receiver.kill('SIGKILL');
    }
  });

  it('has a check by hand that agrees', async () => {
    const code = blockOf(text, 'receiver: by hand');
    const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
      isGenuine: (body: Buffer, headers: object, secret: string) => boolean;
    };
    const receiver = await startWebhookReceiver();
    await sendTest(receiver.url, SECRET);
    await receiver.close();
    const { headers, body } = receiver.received[0]!;
    const bytes = Buffer.from(body);
    const old = String(Number(headers['webhook-timestamp']) - 301);
    expect([
      isGenuine(bytes, headers, SECRET),
      isGenuine(
        bytes,
        { ...headers, 'webhook-signature': `v1,AAAA ${String(headers['webhook-signature'])}` },
        SECRET,
      ),
      isGenuine(Buffer.from(`${body} `), headers, SECRET),
      isGenuine(bytes, { ...headers, 'webhook-id': 'other' }, SECRET),
      isGenuine(bytes, { ...headers, 'webhook-timestamp': old }, SECRET),
      isGenuine(bytes, {}, SECRET),
    ]).toEqual([true, true, false, false, false, false]);
    expect(text).toContain(`content-type: ${headers['content-type']}`);
  });

  it('names the delays of the schedule, and events that exist', () => {
    const flat = text.replaceAll('\n', ' ');
    const [first, second, third, ...hours] = new Environment().WEBHOOK_RETRY_SCHEDULE_MS.map(durationText);
    const last = hours.pop();
    expect(flat).toContain(`${first}, ${second}, ${third}, and ${hours.join(', ')} and ${last} hours`);
    const named = [...text.matchAll(/`((?:session|user|inverter|webhook_endpoint)\.[a-z_]+)`/g)];
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(([, name]) => !(EVENT_NAMES as readonly string[]).includes(name!))).toEqual([]);
  });

  it('has no broken links', async () => {
    const links = [...text.matchAll(/\]\((?!https:)([^)]+)\)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(5);
    for (const link of links) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? text : await readFile(`${ROOT}/docs/${path}`, 'utf8');
      if (anchor !== undefined)
        expect([link, anchorsOf(target)]).toEqual([link, expect.arrayContaining([anchor])]);
    }
  });
});
