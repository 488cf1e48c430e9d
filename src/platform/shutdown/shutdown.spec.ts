import { afterEach, expect, it, jest } from '@jest/globals';
import { Shutdown } from './shutdown.js';

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

it.each([
  [[0], false, 0],
  [[3, 4], false, 3],
  [[0], true, 1],
  [[5], true, 5],
])(
  'for the exit codes %j, all steps stop once, the last first, if one fails (%s), too: %i',
  async (codes, fails, expected) => {
    const exit = jest.spyOn(process, 'exit').mockReturnValue(undefined as never);
    const said: string[] = [];
    const stopped: string[] = [];
    const shutdown = new Shutdown((line) => void said.push(line));
    for (const name of ['database', 'tasks', 'server'])
      shutdown.add({
        name,
        stop: async () => {
          stopped.push(name);
          if (fails && name === 'tasks') throw new Error('stuck');
        },
      });
    await Promise.all(codes.map((code) => shutdown.run(code)));
    expect(stopped).toEqual(['server', 'tasks', 'database']);
    expect(said).toEqual(fails ? ['tasks did not stop cleanly: stuck'] : []);
    expect(exit.mock.calls).toEqual([[expected]]);
  },
);

it('ends with 1 and names the step that takes longer than all have, with the waits of the steps', async () => {
  jest.useFakeTimers();
  const exit = jest.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const said: string[] = [];
  const shutdown = new Shutdown((line) => void said.push(line));
  shutdown.add({ name: 'server', delayMs: 100_000, stop: () => new Promise(() => {}) });
  void shutdown.run(0);
  await jest.advanceTimersByTimeAsync(100_000);
  expect(exit).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(100_000);
  expect([said, exit.mock.calls]).toEqual([['stopping took too long at: server'], [[1]]]);
});
