import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../wait-for.js';
import { freePort } from '../../../src/local/free-port.js';
import { findProgram } from './programs.js';

export interface NatsServer {
  /** The URL without credentials. */
  readonly url: string;
  stop(): Promise<void>;
  /** Restarts the stopped server at the same address. `lost` deletes its data first. */
  start(data?: 'kept' | 'lost'): Promise<void>;
  remove(): Promise<void>;
}

export const findNatsServer = () => findProgram('nats-server', 'NATS_SERVER');

/** Starts a server with JetStream on a free port. `settings` are appended to its configuration. */
export async function startNatsServer(program: string, settings = ''): Promise<NatsServer> {
  const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-nats-'));
  const port = await freePort();
  const store = join(folder, 'data');
  const config = join(folder, 'nats.conf');
  await writeFile(config, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${store}" }\n${settings}\n`);
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  const stop = async (): Promise<void> => {
    child?.kill('SIGKILL');
    await ended;
  };
  const start = async (data: 'kept' | 'lost' = 'kept'): Promise<void> => {
    if (data === 'lost') await rm(store, { recursive: true, force: true });
    child = spawn(program, ['-c', config], { stdio: 'ignore' });
    ended = once(child, 'exit');
    child.unref();
    await waitFor('the NATS server', () => isListening(port));
  };
  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    start,
    stop,
    remove: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    // A NATS server sends INFO on each new connection.
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
