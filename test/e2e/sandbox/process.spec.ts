import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { RawClient } from '../../contract/raw-client.js';
import { useFolder } from '../../setup/folder.js';
import { startSandboxProcess, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { waitFor } from '../../setup/wait-for.js';

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
  const folder = useFolder();

  it('ends when its parent is killed', async () => {
    const parent = spawn(
      process.execPath,
      ['--import', './test/setup/compile/typescript.mjs', '--eval', PARENT],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const pid = Number(await firstLine(parent));
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await waitFor('the sandbox to end', () => !isAlive(pid));
  });

  it('restores its users, sessions and tokens from a state file after a restart', async () => {
    const env = { SANDBOX_STATE_FILE: join(folder, 'kept', 'state.json') };
    const first = await startSandboxProcess(env);
    const client = clientOf(first);
    await client.authorise();
    const user = JSON.parse((await client.register('A-1', ['541448860000000013'])).text);
    const { sessionId } = JSON.parse((await client.start(user.gridLocations[0].id)).text);
    await first.control.online(sessionId);
    const before = await client.read(sessionId);
    await first.stop('SIGTERM');

    const second = await startSandboxProcess(env);
    const after = await fetch(`${second.url}/api/v1/ssa/onboarding/pv/${sessionId}`, {
      headers: client.authorised,
    });
    expect(await after.text()).toBe(before.text);
    expect((await second.control.users()).map(({ gridLocations }) => gridLocations[0]?.ean)).toEqual([
      '541448860000000013',
    ]);
    await second.stop();
  });
});

const PARENT = `
  import('./test/setup/sandbox/sandbox.ts').then(async ({ startSandboxProcess }) => {
    const { pid } = await startSandboxProcess();
    console.log(pid);
  });
`;

const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())));
