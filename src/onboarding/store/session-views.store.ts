import { Injectable, Logger } from '@nestjs/common';
import { formatSequence } from '../../events/cloud-event.js';
import { sequenceBeforeRead } from '../../events/sequence.sql.js';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Database } from '../../platform/database/database.js';
import { parseJsonTimestamp } from '../../platform/database/timestamps.js';
import { mapPage, type Page } from '../../platform/http/page.js';
import type { StoredStall } from '../../stalls/stall-views.service.js';
import { SESSIONS, type SessionsQuery } from '../api/sessions.list.js';
import type { SessionView } from '../api/sessions.view.js';
import { OPEN_STATES } from '../rules/machine.rules.js';
import * as sql from './sessions.sql.js';

/** A session as the API returns it, with startUrl still encrypted. */
export interface SessionRow extends Omit<SessionView, 'object' | 'startUrl' | 'stalled'> {
  readonly stalled: StoredStall | null;
  readonly startUrlCiphertext: Buffer | null;
  readonly changedAt: Date;
  readonly now: Date;
}

/** json_agg writes timestamps as text. */
export interface RawSession extends Omit<SessionRow, 'inverters'> {
  readonly inverters: readonly (Record<'id' | 'firstSeenAt' | 'lastSeenAt', string> & {
    readonly missingSince: string | null;
  })[];
}

/** Reads what the API returns about sessions. */
@Injectable()
export class SessionViewsStore {
  private readonly logger = new Logger(SessionViewsStore.name);

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  async findSession(id: string): Promise<SessionRow | null> {
    const [row] = await this.database.query<RawSession>(sql.FIND_SESSION, [id]);
    return row === undefined ? null : toSession(row);
  }

  /** Assigns sequences, then finds the session. Its `sequence` is that of its last event, unless the database is overloaded. */
  async findSequenced(id: string): Promise<SessionRow | null> {
    await sequenceBeforeRead(this.database);
    return this.findSession(id);
  }

  async listSessions(query: SessionsQuery): Promise<Page<SessionRow>> {
    return mapPage(await SESSIONS.page<RawSession>(this.database, query), toSession);
  }

  async findWatchedStates(ids: readonly string[]): Promise<Map<string, string>> {
    const watched = await this.database.prisma.onboardingSession.findMany({
      where: { id: { in: [...ids] }, closedAt: null },
      select: { id: true, state: true },
    });
    return new Map(watched.map(({ id, state }) => [id, state]));
  }

  /** Returns the startUrl, or null if the web flow is no longer open or no key decrypts the startUrl. */
  findStartUrl({ id, state, closedAt, startUrlCiphertext }: SessionRow): string | null {
    if (startUrlCiphertext === null || closedAt !== null || !OPEN_STATES.includes(state)) return null;
    const startUrl = this.cipher.tryDecrypt(startUrlCiphertext, sql.START_URLS.context(id));
    if (startUrl === null) this.logger.warn({ message: 'a startUrl cannot be decrypted', sessionId: id });
    return startUrl;
  }

  /** Returns the startUrl of a session that has changed lately and is still open, or null if there is none. */
  async findNewestStartUrl(): Promise<string | null> {
    const text = sql.FIND_NEWEST_START_URL;
    const [newest] = await this.database.query<{ id: string; ciphertext: Buffer }>(text);
    return newest ? this.cipher.tryDecrypt(newest.ciphertext, sql.START_URLS.context(newest.id)) : null;
  }
}

export const toSession = (row: RawSession): SessionRow => ({
  ...row,
  sequence: row.sequence && formatSequence(row.sequence),
  inverters: row.inverters.map(({ id, firstSeenAt, lastSeenAt, missingSince }) => ({
    id,
    firstSeenAt: parseJsonTimestamp(firstSeenAt),
    lastSeenAt: parseJsonTimestamp(lastSeenAt),
    missingSince: missingSince === null ? null : parseJsonTimestamp(missingSince),
  })),
});
