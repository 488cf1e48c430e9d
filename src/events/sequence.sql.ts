import type { Sql, Statement } from '../platform/database/database.js';

/** `sequence_events` notifies this channel of new sequences. The notification only wakes readers; it does not contain the events. */
export const EVENTS_CHANNEL = 'pv_onboarding_events';

// Sequences are assigned after the commit, by the writer or the next reader, so no sequence is ever assigned below one that has been read.
// Only sequencing transactions exclude each other; writers never wait for them. Sequencing 50,000 rows took 2.8 s.
// Rejected alternatives, measured on two shared cores with 16 writers whose transactions differ in length:
// - Reading by a serial id (`id > cursor`) lost 41 of 860 and 569 of 1,128 events: ids are drawn at the insert but become visible at the
//   commit, so a reader skips ids that are not committed yet (`readers-miss-nothing.spec.ts`).
// - An advisory lock from the insert to the commit loses none, but serialises all writers: 380 single events a second instead of 1,270, and
//   61 instead of 685 with transactions that continue for 10 ms. It is faster only for batches of 500, since this design writes each row
//   twice.
// - The horizon of open transactions (`pg_snapshot_xmin`) loses none either. But one forgotten transaction anywhere in the cluster stops
//   all readers, and transaction ids do not survive a dump and restore.
const WAIT_AND_ASSIGN: Statement = { name: 'events.assign_sequences', text: 'SELECT sequence_events(true)' };

/** Does nothing if another process is assigning sequences; the next reader then assigns the rest. */
export const TRY_AND_ASSIGN: Statement = {
  name: 'events.try_to_assign_sequences',
  text: 'SELECT sequence_events(false)',
};

const ANY_UNSEQUENCED: Statement = {
  name: 'events.find_unsequenced_events',
  text: `SELECT EXISTS (SELECT FROM domain_events WHERE sequence IS NULL) AS pending`,
};

/** Assigns a sequence to every committed event. A later read by sequence finds all events committed before this call. */
export async function sequenceEvents(sql: Sql): Promise<void> {
  for (;;) {
    const [row] = await sql.query<{ pending: boolean }>(ANY_UNSEQUENCED);
    if (row?.pending !== true) return;
    await sql.query(WAIT_AND_ASSIGN);
  }
}

/**
 * Returns a subquery for the sequence of the last event of this subject that has one; NULL if there is none. Use it in the statement that
 * reads the subject: both then come from one snapshot, which contains everything that the event announces.
 */
// An event that has just been committed has no sequence yet, so this may be the sequence of the one before, but never a later one. By
// `position`, since a subject has its sequences in that order, and there is an index (`feed-plans.spec.ts`).
export const lastSequence = (subject: string): string => `(
  SELECT sequence FROM domain_events WHERE subject = ${subject} AND sequence IS NOT NULL ORDER BY position DESC LIMIT 1)`;

export async function newestSequence(sql: Sql): Promise<string> {
  const text = 'SELECT coalesce(max(sequence), 0) AS newest FROM domain_events';
  return (await sql.query<{ newest: string }>(text))[0]!.newest;
}

// Derived from the current time, so that no sequence repeats even if the same backup is restored twice.
const SKIP_LOST_SEQUENCES = `
  INSERT INTO restores (last_sequence, first_sequence)
  SELECT newest, greatest(newest + 100000000, (extract(epoch FROM clock_timestamp()) * 100000)::bigint)
  FROM (SELECT greatest((SELECT max(sequence) FROM domain_events), (SELECT max(first_sequence) FROM restores), 0) AS newest) AS feed`;

/** Records the restore of a backup. New events get sequences far above those that were lost. */
export async function recordRestore(sql: Sql): Promise<void> {
  await sql.query(SKIP_LOST_SEQUENCES);
}
