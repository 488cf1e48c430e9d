import { Injectable } from '@nestjs/common';
import { Operations } from '../access/operations.js';
import { parseJsonTimestamp } from '../platform/database/timestamps.js';
import {
  textOf,
  type Evidence,
  type Remedy,
  type StallKind,
  type StallSubject,
  type Wait,
} from './cause.rules.js';
import { StallKinds } from './stall-kinds.js';
import type { RemedyView, StalledView } from './stalled.view.js';

/** A stall as `stallOf` reads it: JSON has no instants. */
export interface StoredStall {
  readonly cause: string;
  readonly since: string | Date;
  readonly evidence: Evidence;
}

/** Makes the field `stalled` of API responses: the stored stall with the words and the remedies of the catalogue. */
@Injectable()
export class StallViews {
  constructor(
    private readonly kinds: StallKinds,
    private readonly operations: Operations,
  ) {}

  /** Returns null for a cause that this release does not know: another release has just raised it. */
  view(kind: StallKind, subject: StallSubject, stall: StoredStall | null): StalledView | null {
    const cause = stall === null ? undefined : this.kinds.causeOf(kind, stall.cause);
    if (stall === null || cause === undefined) return null;
    return {
      cause: stall.cause,
      urgency: cause.urgency,
      since: typeof stall.since === 'string' ? parseJsonTimestamp(stall.since) : stall.since,
      evidence: stall.evidence,
      ...this.words(kind, subject, cause, stall.evidence),
    };
  }

  /** Returns the words and the remedies of a cause or of an ordinary wait. */
  words(kind: StallKind, subject: StallSubject, wait: Wait, evidence: Evidence) {
    const { waitsFor, before = null } = wait;
    const remedies = wait.remedies.flatMap((remedy) => this.remedy(kind, subject, remedy) ?? []);
    return { waitsFor, text: textOf(wait, evidence), before, remedies };
  }

  /** Returns the remedy as it is to be called, or null if this process does not serve its operation. */
  private remedy(kind: StallKind, subject: StallSubject, remedy: Remedy): RemedyView | null {
    const { operationId, label, body, confirm = null } = remedy;
    const route = this.operations.of(operationId);
    if (route === undefined) return null;
    const { id, gridLocationId } = subject;
    const arguments_: Readonly<Record<string, string | null | undefined>> = {
      id,
      [`${kind}Id`]: id,
      gridLocationId,
    };
    const path = route.path.replace(/:(\w+)/g, (_, name: string) => arguments_[name] ?? '');
    return { operationId, method: route.method, path, body: body?.(subject) ?? null, label, confirm };
  }
}
