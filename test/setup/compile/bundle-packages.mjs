import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from '../../../scripts/root.mjs';

const IMPORT = /(?:^import|^(?:import|export|\}).* from|\bimport\() ?['"]([^.'"$][^'"]*)['"]/gm;
/**
 * Packages that are not bundled: our client, modules of Node and Jest, packages that read their own files, and optional packages that are
 * not installed.
 */
const LEFT_OUT =
  /^(#client\/|node:|@jest|@nestjs\/(microservices|websockets)|@fastify\/(multipart|static|view)|@prisma\/schema-engine-wasm|pg-native|playwright-core|typescript)(\b)|^class-transformer\/storage$/;
/** The prefix of the generated entry points. Each entry point exports one package. */
const ENTRY = 'entry:';
const PACKAGE = JSON.stringify({
  exports: { '.': './index.mjs', './*.js': './*.mjs', './*.mjs': './*.mjs', './*': './*.mjs' },
});

/**
 * Writes to `folder` a bundle of each package that `src` and `test` import. With the bundles, each test file and process loads the
 * service in a quarter of the CPU time.
 */
export async function bundlePackages(folder) {
  const names = await importedPackages();
  const state = `${names}\n${await readFile(import.meta.filename, 'utf8')}\n${await readFile(join(ROOT, 'package-lock.json'), 'utf8')}`;
  if ((await readFile(join(folder, 'state'), 'utf8').catch(() => '')) === state) return;
  await rm(folder, { recursive: true, force: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: names.map((name) => ({ in: `${ENTRY}${name}`, out: fileOf(name) })),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    // Nest needs the class names.
    keepNames: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Excludes the condition `module`, under which Node does not resolve.
    conditions: [],
    logLevel: 'error',
    banner: {
      js: `import { createRequire as requireOf } from 'node:module'; const require = requireOf(${JSON.stringify(join(ROOT, 'package.json'))});`,
    },
    plugins: [{ name: 'entries', setup: (build) => addEntries(build, names) }],
  });
  for (const name of new Set(names.map(packageOf))) {
    await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, name, 'package.json'), PACKAGE);
  }
  await writeFile(join(folder, 'state'), state);
}

function addEntries({ onResolve, onLoad }, names) {
  onResolve({ filter: LEFT_OUT }, () => ({ external: true }));
  // Without this, a dynamic import of a CommonJS package would have only the default export.
  onResolve({ filter: /^[^.]/ }, ({ path, kind }) =>
    kind === 'dynamic-import' && names.includes(path) ? { path, namespace: ENTRY } : undefined,
  );
  onResolve({ filter: new RegExp(`^${ENTRY}`) }, ({ path }) => ({
    path: path.slice(ENTRY.length),
    namespace: ENTRY,
  }));
  onLoad({ filter: /./, namespace: ENTRY }, async ({ path }) => {
    // Lists the exports by name, because esbuild does not know the exports of a CommonJS package.
    const all = Object.keys(await import(path));
    const named = all.filter((name) => !['default', 'module.exports'].includes(name));
    // Without a default export in Node, importing one must fail here too.
    const byDefault = all.includes('default') ? 'export default $all.default;' : '';
    const contents = `import * as $all from '${path}'; export const { ${named} } = $all; ${byDefault}`;
    return { contents, resolveDir: ROOT };
  });
}

async function importedPackages() {
  const found = new Set();
  for (const folder of ['src', 'sandbox', 'test']) {
    for (const name of await readdir(join(ROOT, folder), { recursive: true })) {
      if (!name.endsWith('.ts')) continue;
      const text = await readFile(join(ROOT, folder, name), 'utf8');
      for (const [, imported] of text.matchAll(IMPORT)) if (!LEFT_OUT.test(imported)) found.add(imported);
    }
  }
  return [...found].sort();
}

const packageOf = (name) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');

const fileOf = (name) => (name === packageOf(name) ? `${name}/index` : name.replace(/\.m?js$/, ''));
