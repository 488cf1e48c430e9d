import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runJest } from './jest.mjs';
import { progress } from './progress.mjs';

/** The Debian package of each program that this check needs. */
const NEEDED = { buildah: 'buildah', mmdebstrap: 'mmdebstrap', ip: 'iproute2', openssl: 'openssl' };
const IMAGE = 'localhost/pv-onboarding:checked';
const CERTIFICATES = '/etc/ssl/certs';

const run = promisify(execFile);
const ENV = { ...process.env, BUILDAH_ISOLATION: 'chroot' };
/** Runs a program and returns its trimmed standard output. */
const outputOf = async (program, args, options = {}) =>
  (await run(program, args, { env: ENV, maxBuffer: 2 ** 26, ...options })).stdout.trim();
const buildah = (...args) => outputOf('buildah', args);

/** Builds the image with buildah, which needs no daemon, and runs test/container on the image. Returns the exit code. */
export async function checkContainer(args) {
  const missing = Object.keys(NEEDED).some(
    (program) => spawnSync(program, ['--version']).error !== undefined,
  );
  // Within some containers, root may not make a network.
  if (missing || process.getuid?.() !== 0 || spawnSync('unshare', ['--net', 'true']).status !== 0) {
    console.error(
      `THE IMAGE WAS NOT CHECKED: this needs root, network namespaces and Debian's ${Object.values(NEEDED).join(', ')}.`,
    );
    console.log('0 passed, 1 failed');
    return 1;
  }
  const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-image-'));
  const containers = [];
  const from = async (image) => {
    const container = await buildah('from', '--pull-never', image);
    containers.push(container);
    return container;
  };
  try {
    const base = await step('the base image', () => makeBase(folder, from));
    await step('the image', () => build(folder, base));
    const container = await from(IMAGE);
    const { config } = JSON.parse(await buildah('inspect', '--type', 'image', IMAGE)).Docker;
    const { results } = await runJest(['test/container', ...args], {
      PV_IMAGE_ROOT: await buildah('mount', container),
      PV_IMAGE_CONFIG: JSON.stringify(config),
    });
    const failed = results === undefined ? 1 : results.numFailedTests + results.numRuntimeErrorTestSuites;
    console.log(`${results?.numPassedTests ?? 0} passed, ${failed} failed`);
    return failed > 0 ? 1 : 0;
  } finally {
    if (containers.length > 0) await buildah('rm', ...containers);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns NODE_IMAGE if it is set. Otherwise builds an image like `node:24-slim` from packages of Debian and npm, and returns its name. */
async function makeBase(folder, from) {
  if (process.env.NODE_IMAGE) return process.env.NODE_IMAGE;
  const image = 'localhost/node:24-slim';
  await outputOf('mmdebstrap', [
    '--variant=minbase',
    '--include=ca-certificates',
    'bookworm',
    join(folder, 'base.tar'),
  ]);
  const [node] = JSON.parse(
    await outputOf('npm', ['pack', '--json', `node-linux-${process.arch}@24`], { cwd: folder }),
  );
  await outputOf('tar', ['-xzf', node.filename, 'package/bin/node'], { cwd: folder });
  const container = await from('scratch');
  await buildah('add', '--quiet', container, join(folder, 'base.tar'), '/');
  await buildah('copy', '--quiet', container, join(folder, 'package/bin/node'), '/usr/local/bin/node');
  const npm = join(await outputOf('npm', ['root', '--global']), 'npm');
  await buildah('copy', '--quiet', container, npm, '/usr/local/lib/node_modules/npm');
  const finish =
    'ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && useradd --uid 1000 --create-home node';
  await buildah('run', container, '--', 'sh', '-c', finish);
  await buildah('commit', '--quiet', '--format', 'docker', container, image);
  return image;
}

/** Builds the image on `base`. Mounts the certificates of this machine, since its network may use a private certificate authority. */
async function build(folder, base) {
  const npmrc = join(folder, 'npmrc');
  await writeFile(npmrc, `cafile=${CERTIFICATES}/ca-certificates.crt\n`);
  const mounts = [`${CERTIFICATES}:${CERTIFICATES}:ro`, `${npmrc}:/root/.npmrc:ro`].flatMap((mount) => [
    '-v',
    mount,
  ]);
  // Without --format docker, buildah would omit the health check.
  const args = [`NODE_IMAGE=${base}`, 'COMMIT=checked'].flatMap((arg) => ['--build-arg', arg]);
  const format = ['--format', 'docker', '--pull-never', ...args];
  await buildah('build', ...format, ...mounts, '--tag', IMAGE, '.');
}

async function step(name, work) {
  const done = progress(`building ${name}`);
  try {
    return await work();
  } finally {
    done();
  }
}
