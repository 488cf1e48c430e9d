import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { currentRequest } from '../../../src/platform/http/request-context.js';
import { TestClient } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';

/** Is executed beside the response, and no caller waits for it. */
const BESIDE = 'events.try_to_assign_sequences';

// The remote service costs milliseconds, and a round trip to PostgreSQL up to one. A caller waits for each of these statements.
describe('the round trips to PostgreSQL', () => {
  const service = useTestApp({ ROLE: 'api' });
  const client = TestClient.of(service);
  const statements: string[] = [];
  const { query } = pg.Client.prototype;

  beforeAll(() => {
    const counting = function (this: pg.Client, ...given: unknown[]) {
      const [statement] = given as [string | pg.QueryConfig];
      const { name = '', text } = typeof statement === 'string' ? { text: statement } : statement;
      if (currentRequest() !== undefined && name !== BESIDE) statements.push(name || text);
      return Reflect.apply(query, this, given) as never;
    };
    jest.spyOn(pg.Client.prototype, 'query').mockImplementation(counting);
  });
  afterAll(() => void jest.restoreAllMocks());

  /** Returns the statements of `work`, after it has run once, so that nothing is done for the first time. */
  async function statementsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
    await work();
    statements.length = 0;
    await work();
    return [...statements];
  }

  it('are 8 for a registration', async () => {
    expect(await statementsOf(() => client.locate())).toHaveLength(8);
  });

  it('are 11 for a start', async () => {
    const places = [await client.locate(), await client.locate()];
    expect(await statementsOf(() => client.start(places.pop()!, { brand: 'sunward' }))).toHaveLength(11);
  });

  it('is 1 for a session', async () => {
    const { id } = await client.startNew();
    expect(await statementsOf(() => client.session(id))).toHaveLength(1);
  });
});
