import { randomUUID } from 'node:crypto';
import { appendEvents } from '../../../src/events/outbox.js';
import type { Database } from '../../../src/platform/database/database.js';
import { sessionEvent } from '../../db/events/fixture.js';

export const WRITERS = 16;
export const SUBJECTS = 40;
const ROLLBACKS = 0.1;

class DeliberateRollback extends Error {}

const randomInteger = (below: number): number => Math.floor(Math.random() * below);

/** Runs transactions of random length at once, so that they commit in another order than they began. Returns the markers per subject, in commit order. */
export async function writeAtOnce(database: Database, transactions: number): Promise<Map<string, string[]>> {
  const subjects = Array.from({ length: SUBJECTS }, () => randomUUID());
  const ledger = new Map<string, string[]>();
  const writeOne = (subject: string, markers: readonly string[]) =>
    database.transaction(async (tx) => {
      await tx.query('SET LOCAL lock_timeout = 0');
      // Serialises the events of a subject, as the row lock of a session does.
      await tx.query('SELECT pg_advisory_xact_lock(hashtext($1))', [subject]);
      const events = markers.map((marker) => sessionEvent('session.online', subject, marker));
      await appendEvents(tx, events);
      await tx.query('SELECT pg_sleep($1)', [Math.random() * 0.02]);
      if (Math.random() < ROLLBACKS) throw new DeliberateRollback();
      // The lock lasts until the commit, so the ledger is in commit order.
      ledger.set(subject, [...(ledger.get(subject) ?? []), ...markers]);
    });
  const write = async () => {
    for (let count = 0; count < transactions; count++) {
      const markers = Array.from({ length: 1 + randomInteger(2) }, () => randomUUID());
      await writeOne(subjects[randomInteger(SUBJECTS)]!, markers).catch((error: unknown) => {
        if (!(error instanceof DeliberateRollback)) throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return ledger;
}
