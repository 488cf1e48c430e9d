import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { waitFor } from '../../test/setup/wait-for.js';
import { AttemptWrites } from './attempt-writes.js';
import type { Attempt } from './outlet.js';

const UNAVAILABLE = Object.assign(new Error('canceling statement'), { code: '57014' });
const REFUSAL = Object.assign(new Error('refused'), { code: 'P0001' });
const HOUR_MS = 3_600_000;

const attemptOf = (id: string): Attempt => ({
  delivery: { id, subject: id } as Attempt['delivery'],
  outcome: { kind: 'failed', status: 500, error: 'status 500', answer: 'a text of the receiver' },
  plan: { status: 'pending', waitMs: 5_000 },
  sentAtMs: 0,
});

/** Writes attempts to a double of the database, which throws the error of `faults` at each attempt with this id. */
function writesOf(faults: Map<string, Error>, patienceMs = HOUR_MS) {
  const recorded: Attempt[] = [];
  const postponed: string[] = [];
  const settled: string[] = [];
  const tries: string[] = [];
  let isThereMore = false;
  const outlet = {
    record: async (attempts: readonly Attempt[]) => {
      tries.push(attempts.map(({ delivery }) => delivery.id).join());
      for (const { delivery, outcome } of attempts) {
        const error =
          outcome.answer === undefined ? faults.get(`${delivery.id} bare`) : faults.get(delivery.id);
        if (error !== undefined) throw error;
      }
      recorded.push(...attempts);
      return isThereMore;
    },
  };
  const queue = {
    patienceMs,
    postpone: async (_endpoint: string, { id }: { readonly id: string }) => {
      if (faults.has('postpone')) throw REFUSAL;
      return postponed.push(id) > 0;
    },
    repeatUntil: async (step: () => Promise<boolean>) => {
      while (!(await step())) await new Promise(setImmediate);
    },
  };
  const writes = new AttemptWrites('endpoint', queue, outlet, ({ delivery }) => settled.push(delivery.id));
  return {
    writes,
    postponed,
    settled,
    tries,
    recorded: () => recorded.map(({ delivery }) => delivery.id),
    bare: () =>
      recorded.flatMap(({ outcome: { answer, ...outcome } }) => (answer === undefined ? [outcome] : [])),
    sayMore: () => (isThereMore = true),
    add: (...ids: readonly string[]) => ids.forEach((id) => writes.add(attemptOf(id))),
    /** Writes until the condition holds, since refused attempts are written again after a pause. */
    writeUntil: (what: string, isSo: () => boolean) =>
      waitFor(what, async () => {
        await writes.write();
        return isSo();
      }),
  };
}

describe('the attempts that have ended', () => {
  it('are recorded together, and tell whether more is due', async () => {
    const { writes, add, tries, settled, sayMore } = writesOf(new Map());
    add('a', 'b');
    expect(await writes.write()).toBe(false);
    sayMore();
    add('c');
    expect(await writes.write()).toBe(true);
    expect(await writes.write()).toBe(false);
    expect([tries, settled]).toEqual([
      ['a,b', 'c'],
      ['a', 'b', 'c'],
    ]);
  });

  it.each([REFUSAL, UNAVAILABLE])('are recorded one by one if one is refused with %s', async (error) => {
    const faults = new Map([['b', error]]);
    const { writes, add, recorded, settled, writeUntil } = writesOf(faults);
    add('a', 'b', 'c');
    await writeUntil('the others are recorded', () => settled.length === 2);
    expect([recorded(), writes.refusals]).toEqual([['a', 'c'], 1]);
    add('d');
    await writes.write();
    expect(settled).toEqual(['a', 'c', 'd']);
    faults.clear();
    await writeUntil('it is recorded', () => writes.refusals === 0);
    expect(settled).toEqual(['a', 'c', 'd', 'b']);
  });

  it('are tried one by one no longer while the database is unavailable', async () => {
    const { writes, add, tries } = writesOf(new Map(['a', 'b', 'c'].map((id) => [id, UNAVAILABLE])));
    add('a', 'b', 'c');
    await writes.write();
    expect([tries, writes.refusals]).toEqual([['a,b,c', 'a'], 3]);
  });

  it('are recorded without the texts of the receiver if they are refused for too long', async () => {
    const { writes, add, bare, settled, postponed } = writesOf(new Map([['a', REFUSAL]]), 0);
    add('a');
    await writes.write();
    const error = 'our database could not store the attempt (SQLSTATE P0001)';
    expect(bare()).toEqual([{ kind: 'failed', status: 500, error }]);
    expect([settled, postponed]).toEqual([['a'], []]);
  });

  it('have their delivery postponed and logged if even that is refused, once that is possible', async () => {
    const log = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const faults = new Map(['a', 'a bare', 'postpone'].map((what) => [what, REFUSAL]));
    const { writes, add, settled, postponed, writeUntil } = writesOf(faults, 0);
    add('a');
    await writes.write();
    expect([settled, writes.refusals]).toEqual([[], 1]);
    faults.delete('postpone');
    await writeUntil('it is postponed', () => writes.refusals === 0);
    expect([settled, postponed]).toEqual([['a'], ['a']]);
    expect(log.mock.calls).toEqual([
      [
        expect.objectContaining({
          endpointId: 'endpoint',
          eventId: 'a',
          message: expect.stringContaining('P0001'),
        }),
      ],
    ]);
    log.mockRestore();
  });

  it('are recorded at the end as soon as the database accepts them, or given up after the patience', async () => {
    const faults = new Map([['a', REFUSAL]]);
    const passing = writesOf(faults);
    passing.add('a');
    const ended = passing.writes.end();
    await new Promise(setImmediate);
    faults.clear();
    await ended;
    expect(passing.settled).toEqual(['a']);
    const permanent = writesOf(new Map(['a', 'a bare', 'postpone'].map((what) => [what, REFUSAL])), 0);
    permanent.add('a');
    await permanent.writes.end();
    expect(permanent.settled).toEqual([]);
  });
});
