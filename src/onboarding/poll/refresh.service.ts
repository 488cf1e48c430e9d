import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { actingCaller, type Caller } from '../../access/acting-caller.js';
import { sqlState } from '../../platform/database/sql-state.js';
import { Environment } from '../../platform/env/environment.js';
import { isDatabaseUnavailable } from '../../platform/problem/database-unavailable.js';
import { found, Problem } from '../../platform/problem/problem.js';
import { PollsStore, type ClaimedPoll } from './polls.store.js';
import { planRead, planUnsavable, type Postponement } from '../rules/read-plan.rules.js';
import { scheduleSettings } from '../rules/schedule.rules.js';
import { SessionViewsStore, type SessionRow } from '../store/session-views.store.js';
import { SessionReader } from '../remote/session-reader.service.js';
import { SessionsStore } from '../store/sessions.store.js';
import { StallsStore } from '../../stalls/stalls.store.js';

/** The pause before a refresh tries again to claim a session that another process reads. The pause grows from `first` to `most`. */
const CHECK_AGAIN_MS = { first: 50, most: 1_000 };
/** A refresh waits at most SCS_TIMEOUT_MS plus this time for another read of its session. */
const WAIT_MARGIN_MS = 5_000;

/** A read that waits for its claim. Its request has not been sent, so every caller may join it. */
interface WaitingRead {
  /** A read at this time or later is recent enough for all callers. If Infinity, only a new read is. */
  readonly need: { oldest: number; readonly callers: (Caller | undefined)[] };
  readonly done: Promise<void>;
}

/** Reads sessions for callers that wait. Claims each session like the poller, so that two reads of it are never in flight at once. */
@Injectable()
export class SessionRefreshService {
  private readonly settings = scheduleSettings(this.environment);
  private readonly waiting = new Map<string, WaitingRead>();

  constructor(
    private readonly polls: PollsStore,
    private readonly views: SessionViewsStore,
    private readonly sessions: SessionsStore,
    private readonly reader: SessionReader,
    private readonly stalls: StallsStore,
    private readonly environment: Environment,
  ) {}

  async getSession(id: string): Promise<SessionRow> {
    return found(await this.views.findSession(id), `session ${id}`);
  }

  /** Reads the session now and returns it. Throws Problem not_found, session_closed or remote_unavailable. */
  async refresh(id: string): Promise<SessionRow> {
    const { closedAt, state } = await this.getSession(id);
    if (closedAt !== null && !(await this.polls.watchClosed(id, state)))
      throw new Problem('session_closed', `The user of session ${id} has been erased`, {
        ids: { sessionId: id },
      });
    await this.readSince(id, Infinity);
    const session = await this.getSequenced(id);
    if (session.stalled === null) return session;
    // The read may have ended the stall.
    await this.stalls.lookNow('session', id);
    return this.getSequenced(id);
  }

  /** Returns the session. If it is open and our copy older than `maxAgeMs`, reads it. Throws Problem not_found, remote_unavailable. */
  async getFresh(id: string, maxAgeMs: number): Promise<SessionRow> {
    const session = await this.getSession(id);
    const oldest = session.now.getTime() - maxAgeMs;
    if (session.closedAt !== null || session.checkedAt.getTime() >= oldest) return session;
    await this.readSince(id, oldest);
    return this.getSequenced(id);
  }

  private async getSequenced(id: string): Promise<SessionRow> {
    return found(await this.views.findSequenced(id), `session ${id}`);
  }

  private readSince(id: string, oldest: number): Promise<void> {
    const joined = this.waiting.get(id);
    if (joined !== undefined) {
      joined.need.oldest = Math.max(joined.need.oldest, oldest);
      joined.need.callers.push(actingCaller());
      return joined.done;
    }
    const need = { oldest, callers: [actingCaller()] };
    const done = this.claim(id, need).then((poll) => poll && this.readClaimed(poll));
    this.waiting.set(id, { need, done });
    return done;
  }

  /** Claims the session. From then on, no caller can join. Returns undefined if no read is needed. Throws Problem remote_unavailable. */
  private async claim(id: string, need: WaitingRead['need']): Promise<ClaimedPoll | undefined> {
    const deadline = performance.now() + this.environment.SCS_TIMEOUT_MS + WAIT_MARGIN_MS;
    let againMs = CHECK_AGAIN_MS.first;
    try {
      do {
        const poll = await this.polls.claimOne(id, need.callers);
        if (poll !== undefined) return poll;
        const { state, closedAt, nextCheckAt, checkedAt } = await this.getSession(id);
        if (checkedAt.getTime() >= need.oldest) return undefined;
        if (closedAt === null || nextCheckAt !== null) {
          await pause(againMs);
          againMs = Math.min(CHECK_AGAIN_MS.most, againMs * 1.5);
          continue;
        }
        // Another read of the closed session has ended and its poll is gone. A refresh makes the session due again for a later read, unless
        // the user has been erased meanwhile.
        if (need.oldest < Infinity || !(await this.polls.watchClosed(id, state))) return undefined;
      } while (performance.now() < deadline);
    } finally {
      this.waiting.delete(id);
    }
    const detail = 'Another read of this session has not ended yet';
    throw new Problem('remote_unavailable', detail, { retryAfterSeconds: 1 });
  }

  /** Reads the session, writes the result, and closes the batch, since only then the read counts. Throws Problem remote_unavailable. */
  private async readClaimed(poll: ClaimedPoll): Promise<void> {
    const read = await this.reader.read(poll, 'foreground');
    const step = planRead(poll, read, this.settings, Math.random());
    if (step.kind === 'postpone') {
      await this.postpone(poll, step);
      const extra = { retryAfterSeconds: step.retryMs / 1_000 };
      throw new Problem('remote_unavailable', `The session could not be read: ${step.error}`, extra);
    }
    try {
      if (step.kind === 'apply') {
        const apply = () => this.sessions.applyReadings([{ ...poll, ...step }]);
        await apply().catch(apply);
      }
    } catch (error) {
      // While the database is unavailable, nothing can be written, so the lease is left to expire.
      if (!isDatabaseUnavailable(error))
        await this.postpone(poll, planUnsavable(sqlState(error) ?? 'unknown'));
      throw error;
    }
    await this.polls.closeBatches([poll.batchId]);
  }

  private async postpone({ sessionId, batchId }: ClaimedPoll, step: Postponement): Promise<void> {
    await this.polls.recordFailures([{ sessionId, batchId, ...step }]);
    await this.polls.stopWatchingClosed(sessionId, batchId);
    await this.polls.closeBatches([batchId]);
  }
}
