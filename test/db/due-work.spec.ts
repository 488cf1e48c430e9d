import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ModulesContainer } from '@nestjs/core';
import { seed } from '../../bench/seed/seed.js';
import { Listener } from '../../src/platform/database/connection/listen.js';
import { BackgroundTasks } from '../../src/platform/tasks/background-tasks.js';
import { DueWork } from '../../src/platform/tasks/due-work.js';
import { useTestDatabase } from '../setup/database/test-database.js';
import { withClient } from '../setup/database/with-client.js';
import { startTestApp } from '../setup/test-app.js';
import { environmentFor } from '../setup/test-environment.js';
import { waitFor } from '../setup/wait-for.js';

const SESSIONS = 1_000;
/** The lanes of the poller take three each. */
const MOST_PAGES = 40;

/** Adds polls that are not due. Their order on disk is not that of any index, as after days of reads. */
const MANY_POLLS = `
    INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
    SELECT gen_random_uuid(), user_id, due_at + random() * interval '1 day', claimed_at, checked_at, phase, anchor_at
      FROM session_polls, generate_series(1, 100) ORDER BY random()`;

interface Explained {
  readonly 'QUERY PLAN': readonly [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }];
}

// A worker asks each second, and most often nothing is due.
describe('what a task asks to learn whether it has work', () => {
  const testDatabase = useTestDatabase();
  const database = testDatabase.open();
  let conditions: string[];
  let signalled: string[];

  beforeAll(async () => {
    await seed(environmentFor(testDatabase.url), { sessions: SESSIONS, force: false, say: () => {} });
    await withClient(testDatabase.url, async (client) => {
      await client.query('SET session_replication_role TO replica');
      await client.query(MANY_POLLS);
      await client.query('VACUUM ANALYZE');
    });
    const declared = jest.spyOn(DueWork.prototype, 'declare');
    const worker = await startTestApp({ ROLE: 'worker', DATABASE_URL: testDatabase.url });
    signalled = [...worker.app.get(ModulesContainer).values()]
      .flatMap(({ providers }) => [...providers.values()].map(({ instance }) => instance))
      .filter((each) => each instanceof BackgroundTasks)
      .flatMap((each) => each['tasks'].filter(({ wakeUp }) => wakeUp).map(({ name }) => name));
    await worker.close();
    conditions = declared.mock.calls.map(([condition]) => condition);
    declared.mockRestore();
  });

  it('is not awaited by a task that a caller, an event or a campaign signals', () =>
    expect(signalled.sort()).toEqual([
      'bulk_actions.run',
      'campaigns.drain',
      'events.deliver',
      'registrations.send',
    ]));

  it('reads no table as a whole', async () => {
    expect(conditions.length).toBeGreaterThan(15);
    const dear: [string, number][] = [];
    for (const condition of conditions) {
      const [explained] = await database.query<Explained>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT EXISTS (${condition})`,
      );
      const { Plan: plan } = explained!['QUERY PLAN'][0];
      const pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      if (pages > MOST_PAGES) dear.push([condition, pages]);
    }
    expect(dear).toEqual([]);
  });

  it('is planned once, whichever tasks are asked about', async () => {
    const worker = await startTestApp({ ROLE: 'worker', DATABASE_URL: testDatabase.url });
    const listener = worker.app.get(Listener);
    const plans = await waitFor('several questions', async () => {
      const { rows } = await listener['client']!.query<{ generic: number; custom: number }>(
        'SELECT generic_plans::int AS generic, custom_plans::int AS custom FROM pg_prepared_statements',
      );
      return rows.some(({ generic, custom }) => generic + custom > 5) && rows;
    });
    await worker.close();
    expect(plans).toEqual([{ generic: expect.any(Number), custom: 0 }]);
  });
});
