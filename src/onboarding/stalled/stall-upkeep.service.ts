import { Injectable } from '@nestjs/common';
import { BackgroundTasks } from '../../platform/async/background-tasks.js';
import { Environment } from '../../platform/env/environment.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import { ReadHabits } from '../poll/habits.service.js';
import { stalledSession } from './stalled.rules.js';
import { StallsStore, type Decide } from './stalls.store.js';

/** The pause between two searches. Every threshold is at least minutes long, so a delay of half a minute is hardly noticed. */
const EVERY_MS = 30_000;
/** The sessions of one transaction: few, so that their locks are short. */
const SESSIONS_AT_ONCE = 500;
const HOUR_MS = 3_600_000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Announces sessions that become stalled, and those that no longer are. One worker at a time examines the awaited sessions. */
@Injectable()
export class StallUpkeep extends BackgroundTasks {
  protected readonly tasks = [{ everyMs: EVERY_MS, run: (stop: AbortSignal) => this.searchIfDue(stop) }];

  constructor(
    private readonly store: StallsStore,
    private readonly habits: ReadHabits,
    private readonly environment: Environment,
  ) {
    super('stalled sessions could not be found', STOP_WITHIN_MS.stalls, environment.ROLE !== 'api');
  }

  /** Examines the awaited and the stalled sessions once. */
  async search(stop?: AbortSignal): Promise<void> {
    for (let after: string | undefined = FIRST_ID; after !== undefined && stop?.aborted !== true;) {
      const page = await this.store.findAwaited(after, SESSIONS_AT_ONCE);
      const changed = page.filter((session) => (this.decide(session)?.cause ?? null) !== session.cause);
      if (changed.length > 0)
        await this.store.settle(
          changed.map(({ id }) => id),
          this.decide,
        );
      after = page.length < SESSIONS_AT_ONCE ? undefined : page.at(-1)?.id;
    }
  }

  // Rejected: a handler of events, because no event says that a session waits for too long.
  private async searchIfDue(stop: AbortSignal): Promise<void> {
    if (await this.store.claimSearch(EVERY_MS)) await this.search(stop);
  }

  private readonly decide: Decide = (session) => {
    const { STALLED_OWNER_HOURS, STALLED_INSTALLATION_HOURS } = this.environment;
    const thresholds = {
      ownerMs: STALLED_OWNER_HOURS * HOUR_MS,
      installationMs: STALLED_INSTALLATION_HOURS * HOUR_MS,
      usualWait: this.habits.usualWait(session.brand),
    };
    return stalledSession(session, thresholds, session.now);
  };
}
