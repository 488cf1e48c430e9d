import { Injectable } from '@nestjs/common';
import { appendEvents } from '../../events/outbox.js';
import { OUTCOME } from '../../platform/database/connection/patience.js';
import { Database } from '../../platform/database/database.js';
import type { SessionRecord } from '../rules/reconcile.rules.js';
import { factsOf, stallEvent } from '../rules/session-events.rules.js';
import { LOCK_ANY_SESSIONS } from '../store/sessions.sql.js';
import type { AwaitedSession, SessionStallCause, Stall } from './stalled.rules.js';
import * as sql from './stalls.sql.js';

/** A session, the cause for which it has been announced as stalled, if any, and the time of the database. */
export interface WatchedSession extends AwaitedSession {
  readonly id: string;
  readonly brand: string | null;
  readonly cause: SessionStallCause | null;
  readonly now: Date;
}

export type Decide = (session: WatchedSession) => Stall | null;

export interface StalledRow extends Stall {
  readonly sessionId: string;
}

@Injectable()
export class StallsStore {
  constructor(private readonly database: Database) {}

  async claimSearch(forMs: number): Promise<boolean> {
    return (await this.database.query(sql.CLAIM_SEARCH, [forMs])).length > 0;
  }

  findAwaited(afterId: string, limit: number): Promise<WatchedSession[]> {
    return this.database.query(sql.FIND_AWAITED, [afterId, limit]);
  }

  /**
   * Decides about sessions, and writes each changed cause with its event. The lock on a session lets only one of several replicas decide
   * about it.
   */
  async settle(ids: readonly string[], decide: Decide): Promise<void> {
    await this.database.transaction(async (tx) => {
      const locked = await tx.query<SessionRecord & { readonly now: Date }>(LOCK_ANY_SESSIONS, [ids]);
      // This is a separate statement, so that its snapshot includes what another replica wrote while this one waited for the lock.
      const facts = await tx.query<WatchedSession>(sql.READ_FACTS, [locked.map(({ id }) => id)]);
      const decided = facts.map((session) => ({
        id: session.id,
        before: session.cause,
        stall: decide(session),
      }));
      const raised = decided.flatMap(({ id, before, stall }) =>
        stall === null || stall.cause === before ? [] : { ...stall, sessionId: id },
      );
      const over = decided.filter(({ before, stall }) => before !== null && stall === null);
      if (raised.length > 0) await tx.query(sql.UPSERT_STALLS, [JSON.stringify(raised)]);
      const ended = await tx.query<StalledRow>(sql.DELETE_STALLS, [over.map(({ id }) => id)]);
      const sessions = new Map(locked.map((session) => [session.id, session]));
      const eventOf = (name: 'session.stalled' | 'session.resumed') => (stall: StalledRow) => {
        const session = sessions.get(stall.sessionId)!;
        const listed = session.inverters.filter(({ missing }) => !missing).map(({ id }) => id);
        return stallEvent(name, factsOf(session, session, session.state, listed, session.now), stall);
      };
      await appendEvents(tx, [
        ...raised.map(eventOf('session.stalled')),
        ...ended.map(eventOf('session.resumed')),
      ]);
    }, OUTCOME);
  }
}
