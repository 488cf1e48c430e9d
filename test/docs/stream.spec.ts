import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HeldRequests } from '../../src/platform/http/held-requests.js';
import { Database } from '../../src/platform/database/database.js';
import { appendOnline } from '../db/events/fixture.js';
import { startTestApp, type TestApp } from '../setup/test-app.js';
import { waitFor } from '../setup/wait-for.js';

const EXAMPLE = fileURLToPath(new URL('./stream.example.mjs', import.meta.url));

describe('docs/stream.md', () => {
  let text: string;
  let service: TestApp;
  let folder: string;

  beforeAll(async () => {
    text = await readFile(new URL('../../docs/stream.md', import.meta.url), 'utf8');
    service = await startTestApp({ ROLE: 'api', SCS_BASE_URL: 'http://127.0.0.1:9' });
    folder = await mkdtemp(join(tmpdir(), 'pv-stream-'));
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  const append = async (): Promise<string> => {
    const subject = randomUUID();
    await appendOnline(service.app.get(Database), subject, 'test');
    return subject;
  };

  function run(key = service.adminKey) {
    const child = spawn(process.execPath, [EXAMPLE], {
      env: { API: `${service.url}/api/v1`, KEY: key, PLACE: join(folder, 'place') },
    });
    let output = '';
    child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
    child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()));
    const exited = new Promise<number | null>((resolve) => void child.once('close', resolve));
    return {
      output: () => output,
      exited,
      stop: async () => {
        child.kill('SIGKILL');
        await exited;
      },
    };
  }

  const waitForStreams = (count: number) =>
    waitFor(`${count} open streams`, () => service.app.get(HeldRequests).count('stream') === count);

  const place = () => readFile(join(folder, 'place'), 'utf8').catch(() => '');

  /** Resolves when the example has printed the event and written its position. */
  const waitForApplied = (example: { output: () => string }, subject: string) =>
    waitFor(`the event about ${subject}`, async () => {
      const line = example
        .output()
        .split('\n')
        .find((printed) => printed.endsWith(subject));
      return line !== undefined && line.split(' ')[0] === (await place());
    });

  it('quotes the example that is run here', async () => {
    const quoted = /<!-- test\/docs\/stream\.example\.mjs -->\s+```js\n(.*?)```/s.exec(text)?.[1];
    expect(quoted).toBe(await readFile(EXAMPLE, 'utf8'));
  });

  it('states the limits of a replica and of a key', () => {
    const { ceiling, share } = service.app.get(HeldRequests);
    for (const limit of [ceiling, share]) expect(text).toContain(limit.toLocaleString('en-US'));
  });

  it('has an example that gets every event, also those that happen while it is away or cut off', async () => {
    const subjects: string[] = [];
    const first = run();
    await waitForStreams(1);
    await waitFor('its position to be written', place);
    subjects.push(await append());
    await waitForApplied(first, subjects[0]!);
    await first.stop();
    await waitForStreams(0);
    subjects.push(await append());

    const second = run();
    await waitForApplied(second, subjects[1]!);
    service.app.getHttpServer().closeAllConnections();
    await waitForStreams(0);
    subjects.push(await append());
    await waitForApplied(second, subjects[2]!);
    await second.stop();
    expect(second.output()).not.toContain(subjects[0]);
    expect(second.output().match(/pv\.session\.online\.v1/g)).toHaveLength(2);
  });

  it('has an example that exits if its key is refused', async () => {
    const refused = run('none');
    expect(await refused.exited).toBe(1);
    expect(refused.output()).toContain('unauthenticated');
  });
});
