import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { waitFor } from './wait-for.js';

export interface NatsServer {
  /** Without credentials. */
  readonly url: string;
  stop(): Promise<void>;
  /** At the same address and with the same data, unless they are to be lost. */
  start(data?: 'kept' | 'lost'): Promise<void>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

/** The program NATS_SERVER names, or nats-server where PATH or Debian's package has it; null when there is none. */
export function findNatsServer(
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | null {
  if (env.NATS_SERVER !== undefined) {
    if (!existsSync(env.NATS_SERVER))
      throw new Error(`There is no program at NATS_SERVER, ${env.NATS_SERVER}.`);
    return env.NATS_SERVER;
  }
  const folders = [...(env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  const name = process.platform === 'win32' ? 'nats-server.exe' : 'nats-server';
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** A server of its own with JetStream, on a free port. `settings` are appended to its configuration. */
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    // It speaks first.
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
