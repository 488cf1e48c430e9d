import { Injectable } from '@nestjs/common';
import { OUTCOME } from '../../platform/database/connection/patience.js';
import { Database } from '../../platform/database/database.js';
import { SessionReader } from '../../onboarding/remote/session-reader.service.js';
import { recordAdopted, type SeenSession, type SessionToAdopt } from './adopt-session.store.js';

/** Maximum reads of a session, one after the other, until one has a usable response. */
const READS = 3;

/** The results of adopting the sessions of a user. */
interface AdoptedSessions {
  /** Why a session was not recorded, by its id. */
  readonly faults: ReadonlyMap<string, string>;
  /** Whether the remote service takes no requests now, so that some sessions have to be adopted later. */
  readonly isLater: boolean;
}

/** Mirrors sessions that exist at the remote service. Reads each session before recording it, and creates nothing at the remote service. */
@Injectable()
export class SessionAdoption {
  constructor(
    private readonly reader: SessionReader,
    private readonly database: Database,
  ) {}

  /**
   * Reads the sessions of a user, then records them. Records the newest first, because the first recorded session of a location and brand
   * becomes the current one. May be repeated.
   */
  async adopt(sessions: readonly SessionToAdopt[], signal: AbortSignal): Promise<AdoptedSessions> {
    const faults = new Map<string, string>();
    const seen: { session: SessionToAdopt; at: SeenSession }[] = [];
    for (const session of sessions) {
      const read = await this.read(session, signal);
      if (read === 'later') return { faults, isLater: true };
      if (typeof read === 'string') faults.set(session.id, read);
      else seen.push({ session, at: read });
    }
    seen.sort((one, other) => other.at.createdAt.getTime() - one.at.createdAt.getTime());
    for (const { session, at } of seen) {
      const recorded = await this.database.transaction((tx) => recordAdopted(tx, session, at), OUTCOME);
      if (recorded === 'foreign')
        faults.set(session.id, 'belongs to another user, location or brand in our database');
      if (recorded === 'gone') faults.set(session.id, 'belongs to a user who has been erased');
    }
    return { faults, isLater: false };
  }

  /** Returns the session, the reason why it is not a session of the user, or `later`. */
  private async read({ id, userId }: SessionToAdopt, signal: AbortSignal): Promise<SeenSession | string> {
    for (let reads = 1; ; reads++) {
      const read = await this.reader.readOfUser({ sessionId: id, userId, responseHash: null }, signal);
      switch (read.kind) {
        case 'observed':
          return read.observation;
        case 'not_sent':
          return 'later';
        case 'not_found':
          return read.isOwn ? 'was not found at the remote service for this user' : 'later';
        case 'refused':
          return read.isOwn ? 'was refused by the remote service' : 'later';
        default:
          if (signal.aborted) return 'later';
          if (reads === READS) return 'could not be read';
      }
    }
  }
}
