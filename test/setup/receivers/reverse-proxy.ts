import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../wait-for.js';
import { freePort } from '../../../src/local/free-port.js';
import { findProgram, isListening } from './programs.js';

export interface ReverseProxy {
  /** The server of the sample that has no path. */
  readonly url: string;
  /** The server of the sample that has a path. */
  readonly urlWithPath: string;
  stop(): Promise<void>;
}

type Ports = readonly [number, number];

const NGINX_FOLDERS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** How the sample of a program is run: without TLS, and with each of its servers on a port of this machine. */
const PROGRAMS = {
  nginx: {
    sample: 'pv-onboarding.conf',
    args: ['-c', 'main.conf', '-e', 'stderr', '-p', '.'],
    removesPath: (text: string) =>
      text.replace('location /tools/pv/ {', '$&\nrewrite ^/tools/pv(/.*)$ $1 break;'),
    listen: (text: string, ports: Ports) => {
      const left = [...ports];
      return text
        .replace(/listen 443 ssl;/g, () => `listen 127.0.0.1:${left.shift()};`)
        .replace(/ssl_certificate.*;/g, '');
    },
    main: `daemon off; pid pid; events {}
      http { access_log off; ${NGINX_FOLDERS.map((name) => `${name}_temp_path ${name};`).join(' ')} include pv-onboarding.conf; }`,
  },
  caddy: {
    sample: 'Caddyfile',
    args: ['run', '--config', 'Caddyfile'],
    removesPath: (text: string) => text.replace('handle /tools/pv/*', 'handle_path /tools/pv/*'),
    listen: (text: string, ports: Ports) =>
      `{\nadmin off\ngrace_period 1ms\n}\n${text
        .replace(/^pv\.example/m, `http://127.0.0.1:${ports[0]}`)
        .replace(/^www\.example/m, `http://127.0.0.1:${ports[1]}`)}`,
    main: '',
  },
};

export type ProxyProgram = keyof typeof PROGRAMS;
export const PROXY_PROGRAMS = Object.keys(PROGRAMS) as ProxyProgram[];
export const findReverseProxy = (name: ProxyProgram) => findProgram(name, name.toUpperCase());

interface Options {
  /** Removes the path instead of passing it on. */
  readonly removesPath?: boolean;
  /** The folder of rolling-restart.sh, which every account can read. */
  readonly stopping?: string;
}

/** Starts a program with its sample in `ops`, before two processes. */
export async function startReverseProxy(
  name: ProxyProgram,
  upstreams: Ports,
  { removesPath = false, stopping = '/nowhere' }: Options = {},
): Promise<ReverseProxy> {
  const program = PROGRAMS[name];
  const ports = [await freePort(), await freePort()] as const;
  const folder = await mkdtemp(join(tmpdir(), `pv-onboarding-${name}-`));
  await cp(`ops/${name}`, folder, { recursive: true });
  const sample = join(folder, program.sample);
  const text = upstreams.reduce(
    (written, port, index) => written.replaceAll(`127.0.0.1:${3000 + index}`, `127.0.0.1:${port}`),
    await readFile(sample, 'utf8'),
  );
  await writeFile(sample, program.listen(removesPath ? program.removesPath(text) : text, ports));
  await writeFile(join(folder, 'main.conf'), program.main);
  const upstream = join(folder, 'pv-onboarding.upstream');
  if (name === 'nginx')
    await writeFile(upstream, (await readFile(upstream, 'utf8')).replaceAll('/run/pv-onboarding', stopping));
  const child = spawn(findReverseProxy(name)!, program.args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  await Promise.race([
    waitFor(name, async () => (await Promise.all(ports.map(isListening))).every(Boolean)),
    ended.then(() => Promise.reject(new Error(`${name} ended:\n${log}`))),
  ]);
  return {
    url: `http://127.0.0.1:${ports[0]}`,
    urlWithPath: `http://127.0.0.1:${ports[1]}/tools/pv`,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
