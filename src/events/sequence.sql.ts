import type { Sql, Statement } from '../platform/database/database.js';

/** The channel on which `sequence_events` announces new sequences. A hint only: who hears nothing still has to read. */
export const EVENTS_CHANNEL = 'pv_onboarding_events';

// Why a sequence is given after the commit, by whoever reads next, and not at the insert. Measured on two shared cores, with 16
// writers whose transactions take differently long:
//
// - Reading by a serial id (`id > cursor`) lost 41 of 860 and 569 of 1,128 events: ids are drawn at the insert and seen at the
//   commit, so a reader passes those that are still on their way. `readers-miss-nothing.spec.ts` shows it.
// - An advisory lock taken before the insert and kept until the commit loses none, but every writer then waits for the commit
//   of every other: 380 single events a second against 1,270 here, and 61 against 685 where a transaction goes on for 10 ms
//   after its event. Only for batches of 500 it is faster (22,000 against 12,000), since this writes each row twice.
// - The horizon of open transactions (`pg_snapshot_xmin`) loses none either, but one forgotten transaction anywhere in the
//   cluster stops all readers, and transaction ids do not survive a dump and restore.
//
// Here only those who sequence exclude each other, for one short statement (50,000 rows took 2.8 s, all of it without a writer
// waiting), and no sequence is ever given below one that has been read.
//
// The function `sequence_events` is one transaction in one round trip, and each statement in it has a snapshot of its own.
const WAIT_AND_ASSIGN: Statement = { name: 'events.sequence', text: 'SELECT sequence_events(true)' };
const TRY_AND_ASSIGN: Statement = { name: 'events.sequence-soon', text: 'SELECT sequence_events(false)' };

const ANY_UNSEQUENCED: Statement = {
  name: 'events.any-unsequenced',
  text: `SELECT EXISTS (SELECT FROM domain_events WHERE sequence IS NULL) AS pending`,
};

/** Gives every committed event its sequence; whoever reads by sequence afterwards finds all that was committed before. */
export async function sequenceEvents(sql: Sql): Promise<void> {
  for (;;) {
    const [row] = await sql.query<{ pending: boolean }>(ANY_UNSEQUENCED);
    if (row?.pending !== true) return;
    await sql.query(WAIT_AND_ASSIGN);
  }
}

/** By database: whether to look once more when what is under way in this process has ended. */
const underWay = new WeakMap<Sql, { again: boolean }>();

/**
 * The same for a writer, which waits for nobody: if another process is at it, the events are left to the next reader; if this one is,
 * they come with its next round. Without that, 64 writers at once each sent a statement that found the lock taken.
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
