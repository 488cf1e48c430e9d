import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';

/** The configuration of the image, as far as the tests need it. */
interface ImageConfig {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly [string, ...string[]] };
  readonly Labels: Readonly<Record<string, string>>;
}

/** The folder with the files of the image, and its configuration, set by `npm run check:container`. */
const ROOT = process.env.PV_IMAGE_ROOT ?? '';
export const CONFIG = JSON.parse(process.env.PV_IMAGE_CONFIG ?? '{}') as ImageConfig;

export interface ImageProcess {
  readonly pid: number;
  readonly output: () => string;
  readonly exited: Promise<number | null>;
  /** Sends SIGTERM, and SIGKILL after `graceMs`. */
  stop(graceMs?: number): Promise<number | null>;
}

/** The settings of a container, without its command. */
export interface Container {
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly isReadOnly: boolean;
  readonly hasCapabilities: boolean;
  readonly mayGainPrivileges: boolean;
  /** The mounted folders, with the options of mount. */
  readonly tmpfs: readonly { readonly path: string; readonly options: string }[];
  /** The files of this machine that are mounted read-only, by their path in the container. */
  readonly files: Readonly<Record<string, string>>;
  /** The name of a network namespace. Default: the network of this machine. */
  readonly network?: string;
}

/** The default container, as docs/deployment.md describes it: read-only files, the user of the image, no capabilities. */
const CLOSED: Container = {
  env: {},
  user: CONFIG.User,
  isReadOnly: true,
  hasCapabilities: false,
  mayGainPrivileges: false,
  tmpfs: [],
  files: {},
};

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Returns a script that mounts the image and the other mounts of the container. */
function mounts(container: Container): string {
  const inside = (path: string) => quoted(`${ROOT}${path}`);
  const root = inside('');
  return [
    'set -e',
    `mount --bind ${root} ${root}`,
    ...container.tmpfs.map(({ path }) => `mkdir -p ${inside(path)}`),
    ...Object.entries(container.files).flatMap(([path, source]) => [
      `mkdir -p ${inside(dirname(path))}`,
      `touch ${inside(path)}`,
      `mount --bind ${quoted(source)} ${inside(path)}`,
      `mount -o remount,ro,bind ${inside(path)}`,
    ]),
    ...(container.isReadOnly ? [`mount -o remount,ro,bind ${root}`] : []),
    `mount -t proc proc ${inside('/proc')}`,
    `mount -t tmpfs -o mode=755 tmpfs ${inside('/dev')}`,
    `touch ${inside('/dev/null')}`,
    `mount --bind /dev/null ${inside('/dev/null')}`,
    ...container.tmpfs.map(
      ({ path, options: how }) => `mount -t tmpfs -o ${quoted(how)} tmpfs ${inside(path)}`,
    ),
  ].join('\n');
}

/** Returns a script that runs its arguments with the rights of the container. */
function enter({ user, mayGainPrivileges, hasCapabilities }: Container): string {
  const options = [
    ...(mayGainPrivileges ? [] : ['--no-new-privs']),
    ...(hasCapabilities ? [] : ['--bounding-set=-all', '--inh-caps=-all']),
  ].join(' ');
  return `exec chroot ${quoted(ROOT)} setpriv --reuid ${user} --regid ${user} --init-groups ${options} \\
    sh -c 'cd "$0" && exec "$@"' ${CONFIG.WorkingDir} "$@"`;
}

/** Starts a container with a command as a container runtime would, but without a process namespace. */
export function runInImage(command: readonly string[], container: Container = CLOSED): ImageProcess {
  const network = container.network === undefined ? [] : [`--net=/run/netns/${container.network}`];
  const script = `${mounts(container)}\n${enter(container)}`;
  return start([...network, 'unshare', '--mount', 'sh', '-c', script, 'sh', ...command], container);
}

/** Runs a command to its end in a new container. Returns its exit code and what it printed. */
export const finishInImage = (command: readonly string[], container?: Container) =>
  finish(runInImage(command, container));

/** Runs a command to its end in the container of a process. Returns its exit code and what it printed. */
export const finishInContainer = (command: readonly string[], pid: number, container: Container) =>
  finish(start(['-t', String(pid), '-m', '-n', 'sh', '-c', enter(container), 'sh', ...command], container));

async function finish({ exited, output }: ImageProcess) {
  return { code: await exited, output: output() };
}

function start(words: readonly string[], container: Container): ImageProcess {
  const child = spawn('nsenter', words, {
    env: { ...Object.fromEntries(CONFIG.Env.map((line) => line.split(/=(.*)/s, 2))), ...container.env },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return {
    pid: child.pid!,
    output: () => text,
    exited,
    stop: async (graceMs = 10_000) => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      return exited.finally(() => clearTimeout(timer));
    },
  };
}

/** Returns the number of bytes below a folder of the image. */
export const bytesOf = (folder: string): number =>
  Number(
    spawnSync('du', ['-sb', `${ROOT}${folder}`])
      .stdout.toString()
      .split('\t')[0],
  );

/** Returns the files of the image below `folder` whose name matches one of `patterns`. */
export const filesLike = (folder: string, ...patterns: string[]): string[] =>
  spawnSync('find', [
    `${ROOT}${folder}`,
    '-type',
    'f',
    '(',
    ...patterns.flatMap((name, index) => (index ? ['-o', '-name', name] : ['-name', name])),
    ')',
  ])
    .stdout.toString()
    .split('\n')
    .filter(Boolean);
