import { Injectable } from '@nestjs/common';
import { sqlState } from '../../platform/database/database.js';
import { Environment } from '../../platform/env/environment.js';
import { isDatabaseUnavailable } from '../../platform/problem/database-unavailable.js';
import { Problem } from '../../platform/problem/problem.js';
import { PollsStore } from './polls.store.js';
import type { PollBatch } from './polls.store.js';
import { planRead, planSetAside } from '../rules/read-plan.rules.js';
import type { ReadStep } from '../rules/read-plan.rules.js';
import { scheduleSettings } from '../rules/schedule.rules.js';
import { SessionAnswersStore } from '../store/session-views.store.js';
import type { SessionRow } from '../store/session-views.store.js';
import { SessionReader } from '../remote/session-reader.service.js';
import { SessionsStore } from '../store/sessions.store.js';

type Step<Kind extends ReadStep['kind']> = Extract<ReadStep, { readonly kind: Kind }>;

const LOOK_AGAIN_MS = 50;
/** Added to the deadline of one call, for a read of the poller that may be in flight. */
const WAIT_MARGIN_MS = 5_000;

/** A read that waits for its claim. Its request has not been sent, so every caller may join it. */
interface WaitingRead {
  /** A read before this time is too old: the latest time among all callers. Infinity requires a new read. */
  readonly need: { oldest: number };
  readonly done: Promise<void>;
}

/** Reads one session for a waiting caller. It claims the session like the poller, so that no session is read twice at once. */
@Injectable()
export class SessionRefreshService {
  private readonly settings;
  /** By session id. At most one per session, besides the read in flight. */
  private readonly waiting = new Map<string, WaitingRead>();

  constructor(
    private readonly polls: PollsStore,
    private readonly answers: SessionAnswersStore,
    private readonly sessions: SessionsStore,
    private readonly reader: SessionReader,
    private readonly environment: Environment,
  ) {
    this.settings = scheduleSettings(environment);
  }

  /** Reads the session now and returns it. Throws Problem not_found, session_closed or remote_unavailable. */
  async refresh(id: string): Promise<SessionRow> {
    const { closedAt, state } = await this.answers.getSession(id);
    if (closedAt !== null && !(await this.polls.watchClosed(id, state)))
      throw new Problem('session_closed', `The user of session ${id} has been erased`);
    await this.readSince(id, Infinity);
    return this.answers.getSession(id);
  }

  /**
   * Returns the session as read at most `maxAgeMs` ago. Returns a closed session as recorded, since it no longer changes here. Throws
   * Problem not_found or remote_unavailable.
   */
  async getFresh(id: string, maxAgeMs: number): Promise<SessionRow> {
    const session = await this.answers.getSession(id);
    const oldest = session.now.getTime() - maxAgeMs;
    if (session.closedAt !== null || session.checkedAt.getTime() >= oldest) return session;
    await this.readSince(id, oldest);
    return this.answers.getSession(id);
  }

  /** Starts a read, or joins the one that waits for its claim. */
  private readSince(id: string, oldest: number): Promise<void> {
    const joined = this.waiting.get(id);
    if (joined !== undefined) {
      joined.need.oldest = Math.max(joined.need.oldest, oldest);
      return joined.done;
    }
    const need = { oldest };
    const done = this.claim(id, need).then((batch) => (batch === null ? undefined : this.readClaimed(batch)));
    this.waiting.set(id, { need, done });
    return done;
  }

  /**
   * Claims the session. Returns null if another read ends meanwhile and is recent enough. Afterwards no caller can join. A closed session
   * is watched for this read: a response that shows life reopens it, any other leaves it as it was. Throws Problem remote_unavailable.
   */
  private async claim(id: string, need: WaitingRead['need']): Promise<PollBatch | null> {
    const deadline = performance.now() + this.environment.SCS_TIMEOUT_MS + WAIT_MARGIN_MS;
    try {
      do {
        const batch = await this.polls.claimOne(id);
        if (batch !== null) return batch;
        const { state, closedAt, nextCheckAt, checkedAt } = await this.answers.getSession(id);
        if (checkedAt.getTime() >= need.oldest) return null;
        if (closedAt === null || nextCheckAt !== null) {
          await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
          continue;
        }
        // A read of a closed session has ended. A refresh needs one that was sent later, unless the user has been erased meanwhile.
        if (need.oldest < Infinity || !(await this.polls.watchClosed(id, state))) return null;
      } while (performance.now() < deadline);
    } finally {
      this.waiting.delete(id);
    }
    throw new Problem('remote_unavailable', 'Another read of this session has not ended yet', {
      retryAfterSeconds: 1,
    });
  }

  /**
   * Reads the session and closes the batch after the outcome is written, because a deleted batch means a good read. Throws Problem
   * remote_unavailable.
   */
  private async readClaimed(batch: PollBatch): Promise<void> {
    const poll = batch.polls[0]!;
    const step = planRead(
      poll,
      await this.reader.read(poll, 'foreground'),
      poll.now,
      this.settings,
      Math.random(),
    );
    switch (step.kind) {
      case 'nothing':
        break;
      case 'apply':
        await this.apply(batch, step);
        break;
      case 'postpone':
        await this.postpone(batch, step);
        break;
    }
    await this.polls.closeBatches([batch.id]);
    if (step.kind !== 'postpone') return;
    const retryAfterSeconds = Math.max(1, Math.ceil(step.retryMs / 1_000));
    throw new Problem('remote_unavailable', `The session could not be read: ${step.error}`, {
      retryAfterSeconds,
    });
  }

  private async apply(batch: PollBatch, { reading, answer }: Step<'apply'>): Promise<void> {
    const { sessionId } = batch.polls[0]!;
    try {
      await this.sessions.applyReadings([{ sessionId, batchId: batch.id, reading, answer }]);
    } catch (error) {
      // Nothing can be written now. The lease expires like that of a dead process.
      if (isDatabaseUnavailable(error)) throw error;
      await this.postpone(batch, planSetAside(sqlState(error) ?? 'unknown'));
      await this.polls.closeBatches([batch.id]);
      throw error;
    }
  }

  private async postpone(batch: PollBatch, step: Step<'postpone'>): Promise<void> {
    const { sessionId } = batch.polls[0]!;
    await this.polls.recordFailures([{ sessionId, batchId: batch.id, ...step }]);
    await this.polls.stopWatchingClosed(sessionId, batch.id);
  }
}
