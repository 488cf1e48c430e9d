import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../../test/setup/wait-for.js';
import type { Database } from './database.js';
import { OutcomeWrites } from './outcome-writes.js';
import { repeatUntilEffective, undo } from './repeat-until-effective.js';

const failure = (message: string, code?: string): Error => Object.assign(new Error(message), { code });
const OUTAGE = failure('connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED');
const REFUSAL = failure('column "x" does not exist', '42703');

/** Returns a database double. For each statement, `results` lists what each execution returns: rows, or an error. The last one repeats. */
function databaseWith(results: Readonly<Record<string, readonly (readonly object[] | Error)[]>>) {
  const executed: string[] = [];
  const times = (statement: string) => executed.filter((each) => each === statement).length;
  const query = async (statement: string) => {
    const own = results[statement]!;
    const result = own[Math.min(times(statement), own.length - 1)]!;
    executed.push(statement);
    if (result instanceof Error) throw result;
    return result;
  };
  return { sql: { query, outcomes: new OutcomeWrites() } as unknown as Database, times };
}

describe('repeatUntilEffective', () => {
  it('ends with the first row', async () => {
    const { sql, times } = databaseWith({ undo: [[], [{}]], other: [[], [], [], [{}]] });
    repeatUntilEffective(sql, 'undo', [], 60_000);
    repeatUntilEffective(sql, 'other', [], 60_000);
    await waitFor('the other undo ends', () => times('other') === 4);
    expect(times('undo')).toBe(2);
  });

  it('outlasts an outage that is longer than the time given', async () => {
    const { sql, times } = databaseWith({ undo: [OUTAGE, OUTAGE, [{}]] });
    repeatUntilEffective(sql, 'undo', [], 1);
    await waitFor('the undo ends', () => times('undo') === 3);
  });

  it('repeats an undo that the database refuses', async () => {
    const { sql, times } = databaseWith({ undo: [REFUSAL, REFUSAL, [{}]] });
    repeatUntilEffective(sql, 'undo', [], 1);
    await waitFor('the undo ends', () => times('undo') === 3);
  });

  it('runs once more when the process stops, but not after that', async () => {
    const { sql, times } = databaseWith({ undo: [OUTAGE, OUTAGE, [{}]] });
    repeatUntilEffective(sql, 'undo', [], 60_000);
    await new Promise(setImmediate);
    await sql.outcomes.close();
    expect(times('undo')).toBe(2);
  });
});

describe('undo', () => {
  it('looks for a write that may be committed: once after an error of the server, longer after a lost connection', async () => {
    const cases: readonly (readonly [error: Error, executions: number])[] = [
      [failure('Connection terminated unexpectedly'), 2],
      [failure('Query read timeout'), 2],
      [failure('terminating connection', '57P01'), 2],
      [failure('canceling statement', '57014'), 1],
      [failure('could not read block 7', 'XX001'), 1],
      [REFUSAL, 1],
      // No connection was made, so nothing was sent.
      [OUTAGE, 0],
      [failure('timeout exceeded when trying to connect'), 0],
      [failure('Connection terminated due to connection timeout'), 0],
      [failure('getaddrinfo ENOTFOUND db', 'ENOTFOUND'), 0],
    ];
    // Only the second execution finds the write.
    const { sql: other, times: timesOfOther } = databaseWith({ undo: [[], [], [{}]] });
    const databases = cases.map(([error]) => {
      const { sql, times } = databaseWith({ undo: [[], [{}]] });
      undo(sql, 'undo', [], error, 60_000);
      return times;
    });
    repeatUntilEffective(other, 'undo', [], 60_000);
    await waitFor('the other undo ends', () => timesOfOther('undo') === 3);
    expect(databases.map((times) => times('undo'))).toEqual(cases.map(([, executions]) => executions));
  });
});
