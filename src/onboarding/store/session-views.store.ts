import { Injectable, Logger } from '@nestjs/common';
import { formatSequence } from '../../events/cloud-event.js';
import { sequenceBeforeRead } from '../../events/sequence.sql.js';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Database } from '../../platform/database/database.js';
import { after, NEWEST_FIRST } from '../../platform/database/list-position.js';
import { parseJsonTimestamp } from '../../platform/database/timestamps.js';
import { selectPage } from '../../platform/database/select-page.js';
import type { StoredStall } from '../../stalls/stall-views.service.js';
import { isStalled } from '../../stalls/stalls.sql.js';
import { containsMetadata } from '../../users/metadata.dto.js';
import type { InvertersQuery, SessionsQuery } from '../api/sessions.dto.js';
import type { InverterView, SessionView } from '../api/sessions.view.js';
import type { StartsQuery, StartView } from '../api/starts.view.js';
import type { StartStatus } from '../rules/start-failure.rules.js';
import type { TimelineEntryView, TimelinePosition, TimelineQuery } from '../api/timeline.view.js';
import { OPEN_STATES } from '../rules/machine.rules.js';
import * as sql from './sessions.sql.js';

/** A session as the API returns it, with startUrl still encrypted. */
export interface SessionRow extends Omit<SessionView, 'startUrl' | 'stalled'> {
  readonly stalled: StoredStall | null;
  readonly startUrlCiphertext: Buffer | null;
  readonly changedAt: Date;
  readonly now: Date;
}

export interface StartRow extends Omit<StartView, 'stalled'> {
  readonly stalled: StoredStall | null;
}

/** json_agg writes timestamps as text. */
interface RawSession extends Omit<SessionRow, 'inverters'> {
  readonly inverters: readonly (Record<'id' | 'firstSeenAt' | 'lastSeenAt', string> & {
    readonly missingSince: string | null;
  })[];
}

/**
 * Returns the condition that selects one session per inverter and owner. Prefers a session that still lists the inverter, and of these the
 * latest.
 */
// PostgreSQL must search the owner's few sessions, not the index on inverter ids: if all inverters had the same id, each row would be
// compared with every other. A scalar subquery rules out a join. BETWEEN instead of = makes the planner overestimate the cost of the index.
const isLatestOf = (owner: 'user_id' | 'grid_location_id'): string => `
  NOT EXISTS (SELECT FROM onboarding_sessions other
               WHERE other.${owner} = s.${owner}
                 AND (SELECT (later.missing_since IS NULL, later.first_seen_at, later.session_id)
                             > (i.missing_since IS NULL, i.first_seen_at, i.session_id)
                        FROM inverters later WHERE later.session_id = other.id AND later.id BETWEEN i.id AND i.id))`;

// Truncates times to milliseconds, because a cursor has no finer times.
const LIST_TIMELINE = `
  SELECT * FROM (
    SELECT date_trunc('milliseconds', at) AS at, step, number, kind, summary, details
      FROM admin.session_timeline WHERE session_id = $1
  ) AS entries
   WHERE $2::timestamptz IS NULL OR (at, step, number) > ($2, $3::int, $4::bigint)
   ORDER BY at, step, number LIMIT $5`;

/** Reads what the API returns about sessions, their inverters, their starts and their timelines. */
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

  async listSessions({ limit, cursor, stalled, ...filter }: SessionsQuery): Promise<SessionRow[]> {
    const order = 's.changed_at, s.id';
    const rows = await selectPage<RawSession>(this.database, sql.SELECT_SESSION, order, limit, [
      ['s.state = ?', filter.state],
      ['s.user_id = ?', filter.userId],
      ['s.grid_location_id = ?', filter.gridLocationId],
      ['u.tenant_reference = ?', filter.tenantReference],
      ['s.brand = ?', filter.brand],
      ['s.changed_at >= ?', filter.updatedSince],
      ['s.created_at >= ?', filter.createdSince],
      ['s.created_at < ?', filter.startedBefore],
      ['s.expires_at < ?', filter.expiresBefore],
      ...isStalled('session', 's.id', stalled),
      ...containsMetadata('s.metadata', filter.metadata),
      ['(s.changed_at, s.id) > (?, ?::uuid)', cursor?.at, cursor?.id],
    ]);
    return rows.map(toSession);
  }

  /** Returns at most `limit` sessions of each location, newest first. If there are more, prefers the current and the online sessions. */
  async listRecent(gridLocationIds: readonly string[], limit: number): Promise<SessionRow[]> {
    const rows = await this.database.query<RawSession>(sql.LIST_RECENT_SESSIONS, [gridLocationIds, limit]);
    return rows.map(toSession);
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
    const startUrl = this.cipher.tryDecrypt(startUrlCiphertext, sql.startUrlContext(id));
    if (startUrl === null) this.logger.warn({ message: 'a startUrl cannot be decrypted', sessionId: id });
    return startUrl;
  }

  /**
   * Returns the inverter from one of its sessions. Prefers a session that still lists the inverter, and of these the latest that found it.
   */
  async findInverter(id: string): Promise<InverterView | null> {
    const text = `${sql.SELECT_INVERTER} WHERE i.id = $1 ORDER BY i.missing_since IS NULL DESC, i.first_seen_at DESC, i.session_id DESC LIMIT 1`;
    const [inverter] = await this.database.query<InverterView>(text, [id]);
    return inverter ?? null;
  }

  /** Lists inverters, newest first. An inverter that several users have is returned for each of them. */
  listInverters({ limit, cursor, userId, gridLocationId }: InvertersQuery): Promise<InverterView[]> {
    const { firstSeenAt, id, sessionId } = cursor ?? {};
    const order = 'i.first_seen_at DESC, i.id DESC, i.session_id DESC';
    return selectPage(this.database, sql.SELECT_INVERTER, order, limit, [
      [isLatestOf(gridLocationId === undefined ? 'user_id' : 'grid_location_id')],
      ['s.user_id = ?', userId],
      ['s.grid_location_id = ?', gridLocationId],
      ['(i.first_seen_at, i.id, i.session_id) < (?, ?::uuid, ?::uuid)', firstSeenAt, id, sessionId],
    ]);
  }

  /** Lists starts, newest first. */
  async listStarts({ limit, cursor, userId, gridLocationId, status }: StartsQuery): Promise<StartRow[]> {
    const starts = await this.database.prisma.sessionStart.findMany({
      where: {
        gridLocationId,
        status,
        ...(userId !== undefined && { gridLocation: { userId } }),
        ...(cursor && after(cursor)),
      },
      omit: { leaseToken: true, leaseUntil: true },
      include: { gridLocation: { select: { userId: true, user: { select: { tenantReference: true } } } } },
      orderBy: NEWEST_FIRST,
      take: limit + 1,
    });
    const stalls = await this.database.prisma.stall.findMany({
      where: { kind: 'start', subject: { in: starts.map(({ id }) => id) } },
    });
    const stallOf = new Map(stalls.map((stall) => [stall.subject, stall as StoredStall]));
    return starts.map(({ lastError, gridLocation, status: given, ...start }) => ({
      ...start,
      status: given as StartStatus,
      error: lastError,
      stalled: stallOf.get(start.id) ?? null,
      userId: gridLocation.userId,
      tenantReference: gridLocation.user.tenantReference,
    }));
  }

  /** Lists the entries of a session's timeline, the oldest first. */
  async listTimeline(sessionId: string, { limit, cursor }: TimelineQuery) {
    const values = [sessionId, cursor?.at, cursor?.step, cursor?.number, limit + 1];
    const rows = await this.database.query<TimelineEntryView & TimelinePosition>(LIST_TIMELINE, values);
    return rows.map((row) => ({ ...row, details: inCamelCase(row.details) }));
  }
}

const inCamelCase = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      value as unknown,
    ]),
  );

const toSession = (row: RawSession): SessionRow => ({
  ...row,
  sequence: row.sequence && formatSequence(row.sequence),
  inverters: row.inverters.map(({ id, firstSeenAt, lastSeenAt, missingSince }) => ({
    id,
    firstSeenAt: parseJsonTimestamp(firstSeenAt),
    lastSeenAt: parseJsonTimestamp(lastSeenAt),
    missingSince: missingSince === null ? null : parseJsonTimestamp(missingSince),
  })),
});
