import { defineConfig } from 'prisma/config';

// These commands never run the schema engine, but Prisma downloads a missing engine for them. The path of any existing file prevents the
// download. `prisma migrate` and `prisma db` need the real engine.
if (['generate', 'validate', 'format'].includes(process.argv[2] ?? ''))
  process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
