import { hostname } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { startServiceProcess } from '../../setup/service-process.js';
import { CREDENTIALS } from '../../setup/test-environment.js';

const PRODUCTION = {
  ...CREDENTIALS,
  NODE_ENV: 'production',
  SCS_BASE_URL: 'http://127.0.0.1:9',
  ROLE: 'worker',
};

/** Returns the fatal log lines of a start that fails. */
async function linesOfRefusal(environment: Record<string, string>): Promise<Record<string, unknown>[]> {
  const error: unknown = await startServiceProcess({ ...PRODUCTION, ...environment }).catch(
    (reason: unknown) => reason,
  );
  const lines = String(error)
    .split('\n')
    .filter((line) => line.startsWith('{'));
  expect(String(error)).not.toContain('canary');
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ level }) => level === 'fatal');
}

describe('in production, a refusal to start is a line of JSON', () => {
  it('with the host and the role of the database, and without its password', async () => {
    const lines = await linesOfRefusal({
      DATABASE_URL: 'postgresql://somebody:canary@127.0.0.1:9/pv',
      DATABASE_DIRECT_URL: 'postgresql://somebody:canary@127.0.0.1:1/pv',
    });
    expect(lines).toMatchObject([
      {
        role: 'worker',
        replica: expect.stringContaining(`${hostname()}:`),
        databaseHost: '127.0.0.1:9, 127.0.0.1:1',
        databaseRole: 'somebody',
        message: expect.stringContaining('DATABASE_DIRECT_URL cannot be used to connect to PostgreSQL'),
      },
    ]);
  });
});
