import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { childrenOf, isAlive } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { measureUntil } from '../support/promise.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

// Runs `npm start` in a folder of its own, as after `npm ci` and `npm run build`.
describe('npm start', () => {
  let folder: string;
  let npm: ChildProcess;
  let output: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pv onboarding npm '));
    await chmod(folder, 0o755);
    await cp(join(ROOT, 'package.json'), join(folder, 'package.json'));
    await cp(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true });
    await writeFile(join(folder, 'scripts/prepare.mjs'), 'export const prepare = async () => {};');
    await symlink(join(ROOT, 'dist'), join(folder, 'dist'));
  });
  afterEach(async () => {
    npm.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 200 });
  });

  const readData = async (file: string) => JSON.parse(await readFile(join(folder, '.data', file), 'utf8'));

  /** Waits until the service runs. Returns the pids of the service, the sandbox and the PostgreSQL supervisor. */
  async function start(env: Record<string, string> = {}): Promise<number[]> {
    const { PATH, HOME } = process.env;
    const quiet = { npm_config_cache: join(folder, 'npm'), npm_config_update_notifier: 'false' };
    output = '';
    npm = spawn('npm', ['start'], {
      cwd: folder,
      env: { PATH, HOME, ...quiet, PORT: '0', SANDBOX_PORT: '0', ...env },
      // Creates a process group, as a terminal does for a command.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    npm.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    npm.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const findRunning = async () => {
      const { pid, service } = await readData('running.json');
      return service === undefined ? undefined : (pid as number);
    };
    const pid = await waitFor('the service to run', findRunning).catch((error: unknown) => {
      throw new Error(output, { cause: error });
    });
    return [pid, ...(await childrenOf(pid))];
  }

  const allGone = async (pids: readonly number[]): Promise<boolean> =>
    !(await Promise.all(pids.map(isAlive))).includes(true);

  const pidOf = ({ pid }: ChildProcess): number => {
    if (pid === undefined) throw new Error('npm has not been started');
    return pid;
  };

  it.each([
    ['SIGTERM to npm', () => process.kill(pidOf(npm), 'SIGTERM')],
    ['SIGINT to npm', () => process.kill(pidOf(npm), 'SIGINT')],
    ['Ctrl-C, which every process of the terminal gets', () => process.kill(-pidOf(npm), 'SIGINT')],
  ])('stops in order and leaves nothing behind after %s', async (_, send) => {
    // npm may forward a Ctrl-C so late that the service takes it for a second one.
    const { ended, areGone } = await measureUntil(
      (figure) => figure.ended[0] !== 130 && !output.includes('stopping took too long'),
      async () => {
        const pids = await start();
        const exit = once(npm, 'exit');
        send();
        return { ended: await exit, areGone: await allGone(pids) };
      },
    );
    expect(ended).toEqual([0, null]);
    expect(areGone).toBe(true);
    expect(output).not.toContain('did not stop cleanly');
    await expect(readData('running.json')).rejects.toThrow('ENOENT');
  });

  it('leaves nothing behind when npm is killed', async () => {
    const pids = await start();
    npm.kill('SIGKILL');
    await waitFor('all to be gone', () => allGone(pids));
  });
});
