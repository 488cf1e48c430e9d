import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool } from 'pg';

// Runs Prisma's schema engine as WebAssembly from the npm registry, because some networks block the host of the binary engine.
// Passes an adapter to the engine as Prisma's command line does, since `@prisma/client` exports no function for this.

const resolve = createRequire(import.meta.url).resolve;

type EngineBindings = typeof import('@prisma/schema-engine-wasm/schema_engine_bg');

/** Node has WebAssembly, but only TypeScript's DOM library declares the type, and that library is not loaded. */
declare const WebAssembly: {
  instantiate(
    source: Uint8Array,
    imports: Record<string, unknown>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

/** Returns the bindings with timers that do not keep the process alive: the engine never clears the 10 s timer of its advisory lock. */
function withUnrefTimers(bindings: EngineBindings): Record<string, unknown> {
  // The name of this binding ends with a number that changes with every build of the engine.
  const timers = Object.keys(bindings).filter((name) => name.startsWith('__wbg_setTimeout_'));
  const unrefTimer = (run: () => void, delayMs: number) => setTimeout(run, delayMs).unref();
  return { ...bindings, ...Object.fromEntries(timers.map((name) => [name, unrefTimer])) };
}

let instance: Promise<EngineBindings> | undefined;

/** Instantiates the engine once. The bindings cache views of its memory, so a second instance would read the memory of the first. */
const engineBindings = (): Promise<EngineBindings> => (instance ??= instantiate());

async function instantiate(): Promise<EngineBindings> {
  const folder = dirname(resolve('@prisma/schema-engine-wasm'));
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const wasm = await readFile(join(folder, 'schema_engine_bg.wasm'));
  const imports = { './schema_engine_bg.js': withUnrefTimers(bindings) };
  const { instance } = await WebAssembly.instantiate(wasm, imports);
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  return bindings;
}

/** Returns the SQL that creates the Prisma schema in an empty database. */
export async function sqlOfSchema(pool: Pool, schemaFile: string): Promise<string> {
  const { SchemaEngine } = await engineBindings();
  const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool));
  const engine = await SchemaEngine.new({ datamodels: undefined }, () => {}, adapter);
  const files = [{ path: schemaFile, content: await readFile(schemaFile, 'utf8') }];
  const filters = { externalTables: [], externalEnums: [] };
  try {
    const result = await engine.diff({
      from: { tag: 'empty' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: null,
      filters,
    });
    return result.stdout ?? '';
  } finally {
    engine.free();
  }
}
