import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Loop } from '../../platform/async/loop.js';
import { Environment } from '../../platform/env/environment.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import { hazardsOf, type Hazards } from '../rules/habits.rules.js';
import type { WatchedSession } from '../rules/schedule.rules.js';
import { HabitsStore, type BrandHabits } from './habits.store.js';

/** How old the habits in this process may be. They change once a day. */
const RELOAD_MS = 300_000;

type Kind = Pick<BrandHabits, 'brand' | 'phase'>;
const keyOf = ({ brand, phase }: Kind) => `${phase} ${brand}`;

/** What is known of the changes of each brand, in memory. One worker counts them once a day. */
@Injectable()
export class ReadHabits implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(ReadHabits.name);
  private known: ReadonlyMap<string, Hazards | undefined> = new Map();
  private readonly loop = new Loop({
    step: async () => {
      await this.reload();
      return RELOAD_MS;
    },
    onError: (error) => {
      this.logger.warn(`the habits of brands are not updated: ${errorText(error)}`);
      return RELOAD_MS;
    },
  });

  constructor(
    private readonly habits: HabitsStore,
    private readonly environment: Environment,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop(STOP_WITHIN_MS.habits);
  }

  get areKnown(): boolean {
    return this.known.size > 0;
  }

  hazardsOf(kind: Kind): Hazards | undefined {
    return this.known.get(keyOf(kind));
  }

  /** Returns what `planNextReadMs` has to know of a claimed session. */
  learnedOf(poll: Kind & { readonly recordedAt: Date }): WatchedSession['learned'] {
    const hazards = this.hazardsOf(poll);
    return hazards && { hazards, startedAt: poll.recordedAt };
  }

  /** Reads the habits, and again if they were due to be counted. */
  async reload(): Promise<void> {
    await this.read();
    if (this.environment.ROLE !== 'api' && (await this.habits.countDaily())) await this.read();
  }

  private async read(): Promise<void> {
    const known = await this.habits.findKnown();
    this.known = new Map(known.map((habits) => [keyOf(habits), hazardsOf(habits.counts)]));
  }
}
