import { Injectable } from '@nestjs/common';
import type { NewEvent } from '../events/catalogue.rules.js';
import { appendEvents } from '../events/outbox.js';
import { OUTCOME } from '../platform/database/connection/patience.js';
import { Database, type Transaction } from '../platform/database/database.js';
import { peopleOf, type PersonalData } from '../platform/database/personal-data.js';
import { withoutRefusedRows, type ChangeRows } from '../platform/database/refused-rows.js';
import type { Evidence, StallKind, WaitsFor } from './cause.rules.js';
import type { Stall } from './look.rules.js';
import { StallKinds, type DeclaredKind, type SubjectFacts } from './stall-kinds.js';
import * as sql from './stalls.sql.js';

interface DueSubject {
  readonly kind: StallKind;
  readonly subject: string;
  readonly now: Date;
}

interface KnownStall extends Stall {
  readonly subject: string;
}

interface NextLook {
  readonly kind: StallKind;
  readonly subject: string;
  readonly lookAt: Date | null;
}

/** More rows than causes and hours of a day, and few enough to be summed within a millisecond. */
const MOST_COUNTS = 2_000;

/** Looks at due subjects, and writes the difference between their rules and the table `stalls`, with its events. */
@Injectable()
export class StallsStore {
  private hasWritten = false;

  constructor(
    private readonly database: Database,
    private readonly kinds: StallKinds,
  ) {}

  /** Looks at no more than `limit` due subjects, in one transaction. Returns how many it looked at. */
  async lookAtDue(limit: number): Promise<number> {
    const look = async (tx: Transaction, changeRows: ChangeRows, spare: number) => {
      const due = await tx.query<DueSubject>(sql.LOCK_DUE, [this.names, limit + spare]);
      return (await changeRows(due, (part) => this.lookAtLocked(tx, part), limit)).length;
    };
    return withoutRefusedRows(this.database, look, OUTCOME);
  }

  /** Looks at a subject if it is due, so that a response has its stall, and the sequence of that event. If this fails, a worker looks later. */
  async lookNow(kind: StallKind, subject: string): Promise<void> {
    const look = async (tx: Transaction) =>
      this.lookAtLocked(tx, await tx.query<DueSubject>(sql.LOCK_SUBJECT, [kind, subject]));
    await this.writeCauses()
      .then(() => this.database.transaction(look))
      .catch(() => {});
  }

  private async lookAtLocked(tx: Transaction, due: readonly DueSubject[]): Promise<DueSubject[]> {
    const looks: NextLook[] = [];
    for (const kind of this.kinds.all) {
      const ofKind = due.filter((each) => each.kind === kind.kind);
      if (ofKind.length > 0) looks.push(...(await lookAt(tx, kind, ofKind)));
    }
    const later = looks.filter((each) => each.lookAt !== null);
    const never = looks.filter((each) => each.lookAt === null);
    if (later.length > 0) await tx.query(sql.LOOK_LATER, [JSON.stringify(later)]);
    if (never.length > 0) await tx.query(sql.DELETE_LOOKS, [JSON.stringify(never)]);
    return [...due];
  }

  /** Merges the counts if they have more than `most` rows. */
  async mergeCounts(most = MOST_COUNTS): Promise<void> {
    await this.database.query(sql.MERGE_COUNTS, [most]);
  }

  /** Writes the catalogue, once per process: lists find the stalls by its causes. */
  async writeCauses(): Promise<void> {
    if (this.hasWritten) return;
    const rows = this.kinds.all.flatMap(({ kind, causes }) =>
      Object.entries(causes).map(([cause, { waitsFor, urgency, title, before, remedies }]) => ({
        kind,
        cause,
        waits_for: waitsFor,
        urgency,
        meaning: title,
        before: before ?? null,
        remedies: remedies.map(({ operationId }) => operationId),
      })),
    );
    await this.database.query(sql.WRITE_CAUSES, [JSON.stringify(rows)]);
    this.hasWritten = true;
  }

  private get names(): readonly StallKind[] {
    return this.kinds.all.map(({ kind }) => kind);
  }
}

/** Deletes the stalls of a user and of its registrations, and announces that they are over. The subjects are erased earlier. */
export const STALLS: PersonalData = {
  table: 'stalls',
  where: sql.OF_PERSON,
  order: 't.kind, t.subject',
  parameter: (person) => [...peopleOf(person), ...person.sessionIds],
  erase: async (tx, { userId, registrationIds }, { later }) => {
    const erased = await tx.query<KnownStall & { readonly kind: StallKind; readonly waitsFor: WaitsFor }>(
      sql.ERASE_STALLS,
      [userId, registrationIds],
    );
    const events = erased.map(({ kind, subject, waitsFor, ...stall }) =>
      stallEvent('stall.cleared', kind, subject, waitsFor, stall),
    );
    later(() => appendEvents(tx, events));
    await tx.query(sql.ERASE_NOTES);
    return erased.length;
  },
};

async function lookAt(
  tx: Transaction,
  declared: DeclaredKind,
  due: readonly DueSubject[],
): Promise<NextLook[]> {
  const { kind } = declared;
  const ids = due.map(({ subject }) => subject);
  const facts = new Map((await tx.query<SubjectFacts>(declared.facts, [ids])).map((each) => [each.id, each]));
  const stored = new Map(
    (await tx.query<KnownStall>(sql.FIND_STALLS, [kind, ids])).map((each) => [each.subject, each]),
  );
  const found = due.map(({ subject, now }) => {
    const known = facts.get(subject);
    return {
      subject,
      known,
      before: stored.get(subject),
      ...(known === undefined ? NOTHING : declared.look(known, now)),
    };
  });
  const different = found.flatMap(({ known, stall, before }) =>
    known !== undefined && stall !== null && isDifferent(stall, before) ? [rowOf(known, stall)] : [],
  );
  const cleared = found.flatMap(({ stall, before }) =>
    stall === null && before !== undefined ? [before] : [],
  );
  if (different.length > 0) await tx.query(sql.UPSERT_STALLS, [kind, JSON.stringify(different)]);
  if (cleared.length > 0) await tx.query(sql.DELETE_STALLS, [kind, cleared.map(({ subject }) => subject)]);
  // The cause of a cleared stall may be of another release.
  const waitsFor = ({ cause }: Stall) => declared.causes[cause]?.waitsFor ?? 'nobody';
  const raised = different.filter(({ id, cause }) => stored.get(id)?.cause !== cause);
  await appendEvents(tx, [
    ...raised.map((stall) => stallEvent('stall.raised', kind, stall.id, waitsFor(stall), stall)),
    ...cleared.map((stall) => stallEvent('stall.cleared', kind, stall.subject, waitsFor(stall), stall)),
  ]);
  return found.map(({ subject, lookAgainAt }) => ({ kind, subject, lookAt: lookAgainAt }));
}

const NOTHING = { stall: null, lookAgainAt: null };

const isDifferent = (stall: Stall, before: Stall | undefined): boolean =>
  before === undefined ||
  stall.cause !== before.cause ||
  stall.since.getTime() !== before.since.getTime() ||
  !isSame(stall.evidence, before.evidence);

const isSame = (one: Evidence, other: Evidence): boolean =>
  Object.keys({ ...one, ...other }).every((name) => one[name] === other[name]);

const rowOf = (
  { id, userId, tenantReference, gridLocationId, brand, campaignId }: SubjectFacts,
  stall: Stall,
) => ({ ...{ id, userId, tenantReference, gridLocationId, brand, campaignId }, ...stall });

/** Returns the event of a stall. It omits `lastError`, which may quote the remote service. */
function stallEvent(
  name: 'stall.raised' | 'stall.cleared',
  kind: StallKind,
  id: string,
  waitsFor: WaitsFor,
  { cause, since, evidence: { lastError: _, ...evidence } }: Stall,
): NewEvent {
  return { name, subject: id, data: { kind, id, cause, waitsFor, since: since.toISOString(), evidence } };
}
