import { Injectable } from '@nestjs/common';
import type { Phase, SecondsUntilReads, WatchedSession } from '../rules/schedule.rules.js';

/** `brand` is null for sessions without a brand, and for all brands that are not learned. */
export interface BrandInPhase {
  readonly brand: string | null;
  readonly phase: Phase;
}

/** What has been learned about the changes of brands: nothing, unless a feature replaces the fields. */
@Injectable()
export class LearnedSchedules {
  brands: readonly string[] = [];
  of: (kind: BrandInPhase) => SecondsUntilReads | undefined = () => undefined;

  /** Returns the field `learned` of a claimed session, which `planNextReadMs` uses. */
  learnedOf(poll: BrandInPhase & { readonly recordedAt: Date }): WatchedSession['learned'] {
    const secondsUntilReads = this.of(poll);
    return secondsUntilReads && { secondsUntilReads, startedAt: poll.recordedAt };
  }
}
