import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { BackgroundTasks, task } from './background-tasks.js';
import type { BackgroundTask } from './task.js';

class Repeated extends BackgroundTasks {
  protected readonly tasks = this.runs.map((run, i) => task({ name: `task ${i}`, everyMs: 1, run }));

  constructor(
    private readonly runs: readonly (() => Promise<void>)[],
    isHere = true,
  ) {
    super('it is held up', isHere, 20);
    // What Nest injects.
    Object.assign(this, { all: { add: (declared: BackgroundTask) => declared, showTimer: () => {} } });
  }
}

describe('background tasks', () => {
  it('are repeated until the shutdown, each in its own loop, and consecutive failures are logged once', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    let runs = 0;
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const failing = async () => {
      if (++runs === 5) end();
      if (runs !== 3) throw new Error('no database');
    };
    const hanging = () => new Promise<void>(() => {});
    const repeated = new Repeated([hanging, failing]);
    repeated.onApplicationBootstrap();
    await ended;
    await repeated.beforeApplicationShutdown();
    expect(warn.mock.calls).toEqual(Array(2).fill(['it is held up: Error: no database']));
    warn.mockRestore();
  });

  it('end at the shutdown, and run only in processes that have them', async () => {
    let runs = 0;
    const run = async () => void runs++;
    new Repeated([run], false).onApplicationBootstrap();
    const here = new Repeated([run]);
    here.onApplicationBootstrap();
    expect(runs).toBe(1);
    await here.beforeApplicationShutdown();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(runs).toBe(1);
  });

  it('do not wait for work again once the shutdown has begun, which nothing would end', async () => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const wait = jest.fn();
    const repeated = new Repeated([() => ended]);
    const add = (declared: BackgroundTask) => ({ ...declared, due: 'SELECT' });
    Object.assign(repeated, { all: { add, due: { wait }, showTimer: () => {} } });
    repeated.onApplicationBootstrap();
    const stopped = repeated.beforeApplicationShutdown();
    end();
    await stopped;
    expect(wait).not.toHaveBeenCalled();
  });
});
