import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { swcOptions } from './swc-options.mjs';

/** Caches compiled files by content, because tests start dozens of processes that load the same files. */
const CACHE = new URL('../../../node_modules/.cache/typescript/', import.meta.url);

const CLIENT = new URL('../../../clients/typescript/src/', import.meta.url);

export async function resolve(specifier, context, next) {
  if (specifier.startsWith('#client/'))
    return next(new URL(specifier.slice(8).replace(/\.js$/, '.ts'), CLIENT).href, context);
  if (specifier === '@pv-onboarding/client') return next(new URL('index.ts', CLIENT).href, context);
  try {
    return await next(specifier, context);
  } catch (error) {
    const isOurs = /^(\.{0,2}\/|file:)/.test(specifier) && specifier.endsWith('.js');
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !isOurs) throw error;
    // The build puts the sandbox into the folder of the service.
    return next(specifier.replace('/src/sandbox/', '/sandbox/').replace(/\.js$/, '.ts'), context);
  }
}

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const filename = fileURLToPath(url);
  const text = await readFile(filename, 'utf8');
  const key = createHash('sha256')
    .update(JSON.stringify(swcOptions))
    .update(filename)
    .update(text)
    .digest('hex');
  const cached = new URL(`${key}.mjs`, CACHE);
  const source = await readFile(cached, 'utf8').catch(() => transformTo(cached, text, filename));
  return { format: 'module', source, shortCircuit: true };
}

async function transformTo(cached, text, filename) {
  const { transform } = await import('@swc/core');
  const { code } = await transform(text, { ...swcOptions, filename, swcrc: false });
  const draft = new URL(`${randomUUID()}.tmp`, CACHE);
  await mkdir(CACHE, { recursive: true });
  await writeFile(draft, code);
  await rename(draft, cached);
  return code;
}
