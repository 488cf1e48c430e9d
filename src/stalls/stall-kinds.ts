import { Injectable } from '@nestjs/common';
import type { Statement } from '../platform/database/database.js';
import type { Cause, Causes, StallKind } from './cause.rules.js';
import type { Look } from './look.rules.js';

/** The facts about a subject: those of its rule, and those by which stalls are filtered. */
export interface SubjectFacts {
  readonly id: string;
  readonly userId: string | null;
  readonly tenantReference: string | null;
  readonly gridLocationId: string | null;
  readonly brand: string | null;
  readonly campaignId: string | null;
}

/** A kind of subjects, as its room declares it. */
export interface DeclaredKind<Facts extends SubjectFacts = SubjectFacts> {
  readonly kind: StallKind;
  readonly causes: Causes;
  /** Selects the facts of the subjects $1. Omits those that do not exist or are erased: they are not stalled. */
  readonly facts: Statement;
  /** Decides without I/O. */
  look(facts: Facts, now: Date): Look;
}

/** The kinds of subjects that can be stalled. The module of each room declares its own; a feature may declare one of the core with further facts. */
@Injectable()
export class StallKinds {
  private readonly declared = new Map<StallKind, DeclaredKind>();

  declare<Facts extends SubjectFacts>(kind: DeclaredKind<Facts>): void {
    // The task gives the rule of a kind only facts of the same kind.
    this.declared.set(kind.kind, kind);
  }

  get all(): readonly DeclaredKind[] {
    return [...this.declared.values()];
  }

  causeOf(kind: StallKind, code: string): Cause | undefined {
    return this.declared.get(kind)?.causes[code];
  }
}
