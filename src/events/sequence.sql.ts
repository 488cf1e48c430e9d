import { prepared, type Database, type Sql, type Statement } from '../platform/database/database.js';
import { changeWithoutRefused, isRefusal } from '../platform/database/refused-rows.js';

/** `sequence_events` notifies this channel of new sequences. The notification has no content: it only wakes readers. */
export const EVENTS_CHANNEL = 'pv_onboarding_events';

/** Assigns sequences to at most 10,000 committed events. Returns their number, and no row if no event lacked a sequence. */
// Sequences are assigned after the commit, by the writer or the next reader, so no sequence is ever assigned below one that has been read.
// Only sequencing transactions exclude each other. Rejected: a serial id, which is drawn at the insert but becomes visible at the commit, so
// that events would be lost; an advisory lock from insert to commit (61 events a second instead of 685 in transactions of 10 ms); the
// horizon of open transactions (`pg_snapshot_xmin`), with which one forgotten transaction in the cluster stops all readers.
const WAIT_AND_ASSIGN = prepared('events.assign_sequences')`
    SELECT sequence_events(true) AS assigned WHERE EXISTS (SELECT FROM domain_events WHERE sequence IS NULL)`;

/** Assigns sequences like WAIT_AND_ASSIGN, but does nothing if another process is assigning them: the next reader assigns the rest. */
export const TRY_AND_ASSIGN = prepared(
  'events.try_to_assign_sequences',
)`SELECT sequence_events(false) AS assigned`;

const FIND_UNSEQUENCED = 'SELECT id FROM domain_events WHERE sequence IS NULL ORDER BY position LIMIT 10000';
/** Returns a row per event that got a sequence. */
const ASSIGN_ONLY = `SELECT FROM generate_series(1, sequence_events(true, $1))`;

/**
 * Assigns sequences by one of the statements above, and returns their number. If PostgreSQL refuses to change an event, that event and the
 * later ones of its subject wait, and the others get their sequences.
 */
export async function assignSequences(database: Database, statement: Statement): Promise<number> {
  try {
    return (await database.query<{ assigned: number }>(statement))[0]?.assigned ?? 0;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const found = await database.query<{ id: string }>(FIND_UNSEQUENCED);
    const ids = found.map(({ id }) => id);
    return (await changeWithoutRefused(database, ids, (sql, part) => sql.query(ASSIGN_ONLY, [part]))).length;
  }
}

/** Assigns a sequence to every committed event, except those that PostgreSQL refuses to change. A later read finds all of them. */
export async function sequenceEvents(database: Database): Promise<void> {
  while ((await assignSequences(database, WAIT_AND_ASSIGN)) > 0);
}

/**
 * Assigns sequences, so that a later read of a subject has the sequence of its last event. If over 10,000 events lack a sequence or the
 * statement fails, the read may have the sequence of an earlier event.
 */
export async function sequenceBeforeRead(sql: Sql): Promise<void> {
  await sql.query(WAIT_AND_ASSIGN).catch(() => {});
}

/**
 * Returns a subquery for the last sequence of this subject; NULL if there is none. Use it in the statement that reads the subject, so that
 * both share a snapshot: the subject then includes all changes up to the event with that sequence.
 */
// An event that has just been committed has no sequence yet, so the result may be the sequence of the event before it, but never a later
// one. Sorts by `position`, which has an index: the sequences of a subject are in the same order (`feed.spec.ts`).
export const lastSequence = (subject: string): string => `(
  SELECT sequence FROM domain_events WHERE subject = ${subject} AND sequence IS NOT NULL ORDER BY position DESC LIMIT 1)`;

export async function newestSequence(sql: Sql): Promise<string> {
  const text = 'SELECT coalesce(max(sequence), 0) AS newest FROM domain_events';
  return (await sql.query<{ newest: string }>(text))[0]!.newest;
}
