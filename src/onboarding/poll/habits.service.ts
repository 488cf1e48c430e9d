import { Injectable } from '@nestjs/common';
import { BackgroundTasks } from '../../platform/async/background-tasks.js';
import { Database } from '../../platform/database/database.js';
import { Environment } from '../../platform/env/environment.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import { hazardsOf, type Hazards } from '../rules/habits.rules.js';
import type { WatchedSession } from '../rules/schedule.rules.js';
import { countHabitsDaily, findKnownHabits, type BrandHabits } from './habits.store.js';

/** How old the habits in this process may be. They change once a day. */
const RELOAD_MS = 300_000;

/** `brand`: null for sessions without a brand, and for all brands without known habits. */
type Kind = Pick<BrandHabits, 'phase'> & { readonly brand: string | null };
const keyOf = ({ brand, phase }: Kind) => JSON.stringify([brand, phase]);

/**
 * The only place that knows how long the sessions of a brand stay in each phase: the schedule of reads asks it, and so must every text such as
 * `usually within 3 hours`. One worker counts the stays once a day; the known hazards are in memory. Sessions without a brand are not counted
 * and follow the assumed schedule.
 */
@Injectable()
export class ReadHabits extends BackgroundTasks {
  protected readonly tasks = [{ everyMs: RELOAD_MS, run: () => this.reload() }];
  /** The brands with known habits. */
  brands: readonly string[] = [];
  private known: ReadonlyMap<string, Hazards | undefined> = new Map();

  constructor(
    private readonly database: Database,
    private readonly environment: Environment,
  ) {
    super({
      runs: true,
      failure: 'the habits of brands are not updated',
      stopWithinMs: STOP_WITHIN_MS.habits,
    });
  }

  hazardsOf(kind: Kind): Hazards | undefined {
    return this.known.get(keyOf(kind));
  }

  /** Returns `learned` of a claimed session, for `planNextReadMs`. */
  learnedOf(poll: Kind & { readonly recordedAt: Date }): WatchedSession['learned'] {
    const hazards = this.hazardsOf(poll);
    return hazards && { hazards, startedAt: poll.recordedAt };
  }

  /** Reads the habits. If their daily count is due, counts them and reads them again. */
  async reload(): Promise<void> {
    await this.read();
    if (this.environment.ROLE !== 'api' && (await countHabitsDaily(this.database))) await this.read();
  }

  private async read(): Promise<void> {
    const known = await findKnownHabits(this.database);
    this.brands = [...new Set(known.map(({ brand }) => brand))];
    this.known = new Map(known.map((habits) => [keyOf(habits), hazardsOf(habits.counts)]));
  }
}
