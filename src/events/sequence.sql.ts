import type { Sql, Statement } from '../platform/database/database.js';

/** `sequence_events` notifies this channel of new sequences. Wake-up signal; readers must check for themselves. */
export const EVENTS_CHANNEL = 'pv_onboarding_events';

// Sequences are assigned after the commit, by the next reader or by the writer, and not at the insert. Rejected alternatives,
// measured on two shared cores with 16 writers whose transactions differ in length:
//
// - Reading by a serial id (`id > cursor`) lost 41 of 860 and 569 of 1,128 events: ids are drawn at the insert but become visible at
//   the commit, so a reader passes those still uncommitted. `readers-miss-nothing.spec.ts` shows it.
// - An advisory lock held from before the insert until the commit loses none, but every writer waits for the commit of every other:
//   380 single events a second against 1,270 here, and 61 against 685 if a transaction continues for 10 ms after its event. It is
//   faster only for batches of 500 (22,000 against 12,000), since this design writes each row twice.
// - The horizon of open transactions (`pg_snapshot_xmin`) loses none either, but one forgotten transaction anywhere in the cluster
//   stops all readers, and transaction ids do not survive a dump and restore.
//
// Here only the sequencing transactions exclude each other, for one short statement: 50,000 rows took 2.8 s, during which no writer
// waited. No sequence is ever assigned below one that has been read.
//
// The function `sequence_events` is one transaction in one round trip, and each statement in it has its own snapshot.
const WAIT_AND_ASSIGN: Statement = { name: 'events.sequence', text: 'SELECT sequence_events(true)' };
const TRY_AND_ASSIGN: Statement = { name: 'events.sequence-soon', text: 'SELECT sequence_events(false)' };

const ANY_UNSEQUENCED: Statement = {
  name: 'events.any-unsequenced',
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

/** Per database: whether to run again when the current run of this process ends. */
const underWay = new WeakMap<Sql, { again: boolean }>();

/**
 * Assigns sequences without waiting, for writers. If another process is sequencing, the events are left to the next reader. If this
 * process is, its next round includes them; without that, each of 64 concurrent writers sent a statement that found the lock taken.
 */
export async function sequenceSoon(sql: Sql): Promise<void> {
  const running = underWay.get(sql);
  if (running !== undefined) {
    running.again = true;
    return;
  }
  const mine = { again: true };
  underWay.set(sql, mine);
  try {
    while (mine.again) {
      mine.again = false;
      await sql.query(TRY_AND_ASSIGN);
    }
  } finally {
    underWay.delete(sql);
  }
}
