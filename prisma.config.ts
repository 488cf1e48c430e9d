import { defineConfig } from 'prisma/config';

// `generate`, `validate` and `format` never run the schema engine, yet the command line looks for it, and its
// download host is not reachable everywhere. Any existing file satisfies the look-up; `prisma migrate` on a
// machine with network access sets this variable itself or unsets it.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
