import { setMaxListeners } from 'node:events';
import { Injectable } from '@nestjs/common';
import { SessionReader } from '../../onboarding/remote/session-reader.service.js';
import { unlessRefused } from '../../platform/database/refused-rows.js';
import type { RowProblem } from '../campaign.rules.js';
import { AdoptionStore, type RowToAdopt, type SeenSession, type SessionToAdopt } from './adoption.store.js';

const ROWS_PER_STEP = 16;
/** Maximum reads of a session, one after the other, until one has a usable response. */
const READS = 3;

/**
 * Mirrors the users and sessions of rows, and creates nothing at the remote service. A row gets its result only after its sessions are read,
 * so that a killed step is repeated.
 */
@Injectable()
export class CampaignAdoption {
  constructor(
    private readonly store: AdoptionStore,
    private readonly reader: SessionReader,
  ) {}

  /** Adopts the next rows of a campaign. Returns the lines that have got a result. Adds to `refused` those that PostgreSQL refuses. */
  async adoptNext(
    id: string,
    leaseToken: string,
    signal: AbortSignal,
    refused: Set<number>,
  ): Promise<number[]> {
    // Each read listens, and several run at once.
    setMaxListeners(0, signal);
    const rows = await this.store.findNext(id, leaseToken, ROWS_PER_STEP, [...refused]);
    const adopt = (row: RowToAdopt) =>
      unlessRefused(refused, row.line, `line ${row.line} of campaign ${id}`, () =>
        this.adopt(id, leaseToken, row, signal),
      );
    const done = await Promise.all(rows.map(adopt));
    return rows.filter((_, index) => done[index]).map(({ line }) => line);
  }

  private async adopt(
    id: string,
    leaseToken: string,
    row: RowToAdopt,
    signal: AbortSignal,
  ): Promise<boolean> {
    const adopted = await this.store.adoptUser(id, leaseToken, row);
    if (adopted === null || adopted === 'invalid') return adopted !== null;
    const { user, sessions } = row.adoption;
    const owner = { userId: user.id, tenantReference: row.tenantReference };
    const owned = sessions.map((each) => ({ ...each, ...owner }));
    const faults = await this.adoptSessions(owned, signal);
    if (faults === null) return false;
    const problems = sessions.flatMap((session, index): RowProblem[] => {
      const fault = faults.get(session.id);
      const column = `sessions[${index}]`;
      return fault === undefined
        ? []
        : [{ column, code: 'session_not_read', message: `The session ${fault}` }];
    });
    return this.store.end(id, row, adopted.status, adopted.registrationId, problems);
  }

  /**
   * Reads the sessions of a user, then records them. Records the newest first, because the first recorded session of a location and brand
   * becomes the current one. Returns by their ids why sessions were not recorded. Returns null if the remote service takes no requests now,
   * so that the sessions have to be adopted later. May be repeated.
   */
  async adoptSessions(
    sessions: readonly SessionToAdopt[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string> | null> {
    const faults = new Map<string, string>();
    const seen: { session: SessionToAdopt; at: SeenSession }[] = [];
    for (const session of sessions) {
      const read = await this.read(session, signal);
      if (read === 'later') return null;
      if (typeof read === 'string') faults.set(session.id, read);
      else seen.push({ session, at: read });
    }
    seen.sort((one, other) => other.at.createdAt.getTime() - one.at.createdAt.getTime());
    for (const { session, at } of seen) {
      const recorded = await this.store.recordSession(session, at);
      if (recorded === 'foreign')
        faults.set(session.id, 'belongs to another user, location or brand in our database');
      if (recorded === 'gone') faults.set(session.id, 'belongs to a user who has been erased');
    }
    return faults;
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
