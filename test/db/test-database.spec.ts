import { describe, expect, it } from '@jest/globals';
import { createTestDatabase } from '../setup/test-database.js';

describe('a test database', () => {
  it('is a migrated copy of its own', async () => {
    const [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    const client = await one.connect();
    const { rows } = await client.query(`SELECT count(*)::int AS tables FROM information_schema.tables
      WHERE table_schema = 'public' AND table_name IN ('users', 'onboarding_sessions', '_prisma_migrations')`);
    await Promise.all([one.drop(), other.drop()]);
    expect(rows).toEqual([{ tables: 3 }]);
    expect(one.url).not.toEqual(other.url);
  });
});
