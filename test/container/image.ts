import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

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
export const ROOT = process.env.PV_IMAGE_ROOT ?? '';
export const CONFIG = JSON.parse(process.env.PV_IMAGE_CONFIG ?? '{}') as ImageConfig;

/** A process in the image: read-only files but for tmpfs mounts, the user of the image, no capabilities, the network of this machine. */
export interface ImageProcess {
  readonly output: () => string;
  readonly exited: Promise<number | null>;
  stop(): Promise<number | null>;
}

const ENTER = `set -e
root=$0 user=$1 folder=$2
shift 2
mount --bind "$root" "$root"
mkdir -p "$root/app/.data"
mount -o remount,ro,bind "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
touch "$root/dev/null"
mount --bind /dev/null "$root/dev/null"
mount -t tmpfs -o uid=1000 tmpfs "$root/app/.data"
exec chroot "$root" setpriv --reuid "$user" --regid "$user" --init-groups --no-new-privs --bounding-set=-all --inh-caps=-all \\
  sh -c 'cd "$0" && exec "$@"' "$folder" "$@"`;

/** Starts a command as a container runtime would with `read_only`, `cap_drop: [ALL]`, `no-new-privileges` and the tmpfs of docker-compose.yml. */
export function runInImage(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ImageProcess {
  const enter = ['--mount', 'sh', '-c', ENTER, ROOT, CONFIG.User, CONFIG.WorkingDir, ...command];
  const imageEnv = CONFIG.Env.map((line) => [
    line.slice(0, line.indexOf('=')),
    line.slice(line.indexOf('=') + 1),
  ]);
  const child = spawn('unshare', enter, { env: { ...Object.fromEntries(imageEnv), ...env } });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return {
    output: () => text,
    exited,
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

/** Runs a command to its end. Returns its exit code and what it printed. */
export async function finishInImage(command: readonly string[], env?: Readonly<Record<string, string>>) {
  const { exited, output } = runInImage(command, env);
  return { code: await exited, output: output() };
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
