import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { RawClient } from '../../contract/raw-client.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox.js';
import { waitFor } from '../../setup/wait-for.js';

jest.setTimeout(120_000);

const clientOf = (sandbox: TestSandbox): RawClient =>
  new RawClient({
    name: 'the sandbox',
    baseUrl: sandbox.url,
    apiKey: sandbox.environment.SCS_API_KEY,
    clientId: sandbox.environment.SCS_CLIENT_ID,
    clientSecret: sandbox.environment.SCS_CLIENT_SECRET,
  });

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('the process of the sandbox', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each(['SIGTERM', 'SIGINT'] as const)('ends with code 0 on %s', async (signal) => {
    const sandbox = await startSandbox();
    expect(await sandbox.stop(signal)).toEqual({ code: 0, signal: null });
  });

  it('ends when its parent is killed', async () => {
    const parent = spawn(
      process.execPath,
      ['--import', './test/setup/compile/typescript.mjs', '--eval', PARENT],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const pid = Number(await firstLine(parent));
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await waitFor('the sandbox to end', () => !isAlive(pid));
  });

  it('refuses a configured port that is taken, and names it', async () => {
    const taken: Server = createServer();
    await new Promise<void>((listening) => taken.listen(0, '127.0.0.1', listening));
    const { port } = taken.address() as AddressInfo;
    await expect(startSandbox({ SANDBOX_PORT: String(port) })).rejects.toThrow(
      `127.0.0.1:${port}: the port is taken`,
    );
    taken.close();
  });

  it('uses a free port if the default port is taken', async () => {
    const sandboxes = await Promise.all([
      startSandbox({ SANDBOX_PORT: '' }),
      startSandbox({ SANDBOX_PORT: '' }),
    ]);
    expect(new Set(sandboxes.map(({ url }) => url)).size).toBe(2);
    for (const { stop } of sandboxes) await stop();
  });

  it('refuses an invalid port', async () => {
    await expect(startSandbox({ SANDBOX_PORT: 'http' })).rejects.toThrow('SANDBOX_PORT must be a port');
  });

  it('restores its users, sessions and tokens from a state file after a restart', async () => {
    const env = { SANDBOX_STATE_FILE: join(folder, 'kept', 'state.json') };
    const first = await startSandbox(env);
    const client = clientOf(first);
    await client.authorise();
    const user = JSON.parse((await client.register('A-1', ['541448860000000013'])).text);
    const { sessionId } = JSON.parse((await client.start(user.gridLocations[0].id)).text);
    await first.control.online(sessionId);
    const before = await client.read(sessionId);
    await first.stop('SIGTERM');

    const second = await startSandbox(env);
    const after = await fetch(`${second.url}/api/v1/ssa/onboarding/pv/${sessionId}`, {
      headers: client.authorised,
    });
    expect(await after.text()).toBe(before.text);
    expect((await second.control.users()).map(({ gridLocations }) => gridLocations[0]?.ean)).toEqual([
      '541448860000000013',
    ]);
    await second.stop();
  });

  it('writes its state soon after a change', async () => {
    const path = join(folder, 'soon.json');
    const sandbox = await startSandbox({ SANDBOX_STATE_FILE: path });
    await sandbox.control.seed(3);
    await waitFor(
      'the state file',
      async () => existsSync(path) && JSON.parse(await readFile(path, 'utf8')).users.length === 3,
    );
    await sandbox.stop('SIGKILL');
  });

  it.each([
    ['not JSON', '{"version":1,'],
    ['of another version', '{"version":2}'],
    ['incomplete', '{"version":1}'],
  ])('starts empty, and says so, when its state file is %s', async (_what, content) => {
    const path = join(folder, 'broken.json');
    await writeFile(path, content);
    const sandbox = await startSandbox({ SANDBOX_STATE_FILE: path });
    expect(await sandbox.control.users()).toEqual([]);
    expect(sandbox.logs()).toContain(`starts empty: ${path} cannot be read`);
    await sandbox.stop();
  });
});

const PARENT = `
  import('./test/setup/sandbox.ts').then(async ({ startSandbox }) => {
    const { pid } = await startSandbox();
    console.log(pid);
  });
`;

const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())));
