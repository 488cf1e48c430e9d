import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../../test/setup/wait-for.js';
import type { Database } from './database.js';
import { mayBeCommitted, repeatUntilEffective } from './repeat-until-effective.js';

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
  return { sql: { query } as unknown as Database, times };
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

  it('does not wait for an undo that the database refuses', async () => {
    const { sql, times } = databaseWith({ refused: [REFUSAL], undo: [[{}]] });
    repeatUntilEffective(sql, 'refused', [], 60_000);
    repeatUntilEffective(sql, 'undo', [], 60_000);
    await waitFor('the undo ends', () => times('undo') === 1);
    expect(times('refused')).toBe(1);
  });
});

describe('mayBeCommitted', () => {
  it.each([
    ['a lost connection', failure('Connection terminated unexpectedly'), true],
    ['a timed out response', failure('Query read timeout'), true],
    ['a server that stops', failure('terminating connection', '57P01'), true],
    ['a refused connection', OUTAGE, false],
    ['a full pool', failure('timeout exceeded when trying to connect'), false],
    ['a cancelled statement', failure('canceling statement', '57014'), false],
    ['a bug', REFUSAL, false],
  ])('%s', (_, error, expected) => expect(mayBeCommitted(error)).toBe(expected));
});
