import { Injectable } from '@nestjs/common';
import { BackgroundTasks, task } from '../platform/tasks/background-tasks.js';
import { Database } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
import { hazardsOf, secondsUntilReads, type UsualWait } from './habits.rules.js';
import { LearnedSchedules } from '../onboarding/poll/learned-schedules.js';
import type { SecondsUntilReads } from '../onboarding/rules/schedule.rules.js';
import { countHabits, findKnownHabits, findUsualWaits } from './habits.store.js';

/** The pause between two reloads of the habits from the database, where they change once a day. */
const RELOAD_MS = 300_000;
const COUNT_EVERY_MS = 86_400_000;

const keyOf = ({ brand, phase }: Readonly<Record<'phase', string> & Record<'brand', string | null>>) =>
  JSON.stringify([brand, phase]);

/**
 * Provides the habits of brands: how long their sessions stay in each phase. The schedule of reads uses the habits, and every text such as
 * `usually within 3 hours` must use them, too. Once a day, one worker counts these times, and every process loads the result into memory.
 * Sessions without a brand are not counted and follow the assumed schedule.
 */
@Injectable()
export class ReadHabits extends BackgroundTasks {
  protected readonly tasks = [
    task({ name: 'habits.read', everyMs: RELOAD_MS, run: () => this.read() }),
    ...(this.environment.ROLE === 'api'
      ? []
      : [
          task({
            name: 'habits.count',
            everyMs: COUNT_EVERY_MS,
            once: 'deployment',
            run: () => this.count(),
          }),
        ]),
  ];
  private known: ReadonlyMap<string, SecondsUntilReads> = new Map();
  private waits: ReadonlyMap<string | null, UsualWait> = new Map();

  constructor(
    private readonly database: Database,
    private readonly environment: Environment,
    private readonly schedules: LearnedSchedules,
  ) {
    super('the habits of brands are not updated');
    schedules.of = (kind) => this.known.get(keyOf(kind));
  }

  /** Returns how long the sessions of a brand wait for their installation, if enough such waits are known. */
  usualWait(brand: string | null): UsualWait | undefined {
    return this.waits.get(brand);
  }

  /** Counts how long the sessions of each brand stay in a phase, and reads the result. */
  async count(): Promise<void> {
    await countHabits(this.database);
    await this.read();
  }

  private async read(): Promise<void> {
    const known = await findKnownHabits(this.database);
    const waits = await findUsualWaits(this.database);
    this.waits = new Map(waits.map(({ brand, ...wait }) => [brand, wait]));
    this.schedules.brands = [...new Set(known.map(({ brand }) => brand))];
    this.known = new Map(
      known.flatMap((habits) => {
        const hazards = hazardsOf(habits.counts);
        return hazards === undefined ? [] : [[keyOf(habits), secondsUntilReads(hazards)]];
      }),
    );
  }
}
