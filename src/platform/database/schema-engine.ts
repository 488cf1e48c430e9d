import { readFile, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { PrismaPg } from '@prisma/adapter-pg';
import type { MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm';
import type { Pool } from 'pg';

// Prisma's schema engine is normally a binary from a download host. The npm registry has the same engine as WebAssembly, so a machine that
// reaches only a registry can migrate. `@prisma/client` exports no way to pass it an adapter, so the binding below does what Prisma's
// command line does.

const resolve = createRequire(import.meta.url).resolve;
const noFilter = { externalTables: [], externalEnums: [] };

type EngineBindings = typeof import('@prisma/schema-engine-wasm/schema_engine_bg');

/** Node has WebAssembly, but its types rely on the browser's, which we do not load. */
declare const WebAssembly: {
  instantiate(
    source: Uint8Array,
    imports: Record<string, unknown>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

/**
 * The engine guards its advisory lock with a timer of 10 s that it never clears, so an otherwise finished process would live on for that
 * long. The number in the timer's name changes with every build.
 */
function withTimersThatLetGo(bindings: EngineBindings): Record<string, unknown> {
  const timers = Object.keys(bindings).filter((name) => name.startsWith('__wbg_setTimeout_'));
  const letGo = (run: () => void, delayMs: number) => setTimeout(run, delayMs).unref();
  return { ...bindings, ...Object.fromEntries(timers.map((name) => [name, letGo])) };
}

let instance: Promise<EngineBindings> | undefined;

/** Instantiates once: the bindings keep views of the first instance's memory, so a second instance would read garbage. */
const engineBindings = (): Promise<EngineBindings> => (instance ??= instantiate());

async function instantiate(): Promise<EngineBindings> {
  const folder = dirname(resolve('@prisma/schema-engine-wasm'));
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const wasm = await readFile(join(folder, 'schema_engine_bg.wasm'));
  const imports = { './schema_engine_bg.js': withTimersThatLetGo(bindings) };
  const { instance } = await WebAssembly.instantiate(wasm, imports);
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  return bindings;
}

/** adapter-pg splits a script at every `;`, which breaks `$$ … $$` bodies. This adapter sends each script to the server whole. */
function wholeScripts(pool: Pool): SqlMigrationAwareDriverAdapterFactory {
  const factory = new PrismaPg(pool);
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connectToShadowDb: () => factory.connectToShadowDb(),
    connect: async () => {
      const adapter = await factory.connect();
      adapter.executeScript = async (script) => void (await pool.query(script));
      return adapter;
    },
  };
}

async function openEngine(pool: Pool): Promise<SchemaEngine> {
  const bindings = await engineBindings();
  const adapter = bindMigrationAwareSqlAdapterFactory(wholeScripts(pool));
  return bindings.SchemaEngine.new({ datamodels: undefined }, () => {}, adapter);
}

/** Reads the migrations folder into the form that the engine takes. */
export async function readMigrations(folder: string): Promise<MigrationList> {
  const names = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const migrationDirectories = await Promise.all(
    names
      .map((entry) => entry.name)
      .sort()
      .map(async (path) => ({
        path,
        migrationFile: {
          path: 'migration.sql',
          content: { tag: 'ok' as const, value: await readFile(join(folder, path, 'migration.sql'), 'utf8') },
        },
      })),
  );
  const lockfile = {
    path: './migration_lock.toml',
    content: await readFile(join(folder, 'migration_lock.toml'), 'utf8'),
  };
  return { baseDir: folder, lockfile, shadowDbInitScript: '', migrationDirectories };
}

/** Applies the missing migrations, exactly as `prisma migrate deploy` would; returns their names. */
export async function applyMigrations(pool: Pool, migrationsList: MigrationList): Promise<string[]> {
  const engine = await openEngine(pool);
  try {
    return (await engine.applyMigrations({ migrationsList, filters: noFilter })).appliedMigrationNames;
  } finally {
    engine.free();
  }
}

/** Returns the SQL that creates the Prisma schema in an empty database. */
export async function sqlOfSchema(pool: Pool, schemaFile: string): Promise<string> {
  const engine = await openEngine(pool);
  const files = [{ path: schemaFile, content: await readFile(schemaFile, 'utf8') }];
  try {
    const result = await engine.diff({
      from: { tag: 'empty' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: null,
      filters: noFilter,
    });
    return result.stdout ?? '';
  } finally {
    engine.free();
  }
}
