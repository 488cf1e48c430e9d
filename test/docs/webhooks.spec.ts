import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestClient } from '../setup/client.js';
import { startTestApp, type TestApp } from '../setup/test-app.js';
import { waitFor } from '../setup/wait-for.js';
import { freePort } from '../setup/receivers/programs.js';
import { blockOf } from './pages.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECRET = `whsec_${Buffer.alloc(32, 'secret of the docs').toString('base64')}`;

interface Tested {
  readonly delivered: boolean;
  readonly status: number | null;
}

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
});
