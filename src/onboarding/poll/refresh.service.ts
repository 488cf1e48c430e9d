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
/** Beyond the deadline of one call: for the poller's read that may be under way. */
const WAIT_MARGIN_MS = 5_000;

/** A read that waits for its claim. Its request is not sent yet, so every caller may join it. */
interface WaitingRead {
  /** The highest `oldest` among its callers. */
  readonly need: { oldest: number };
  readonly done: Promise<void>;
}

/** Reads one session now, for a caller who waits. Under the same claim as the poller, so that no session is read twice at once. */
@Injectable()
export class SessionRefreshService {
  private readonly settings;
  /** By session id: at most one, beside the read in flight. */
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

  /** Throws Problem not_found, session_closed, remote_unavailable. */
  async refresh(id: string): Promise<SessionRow> {
    const { closedAt, state } = await this.answers.getSession(id);
    if (closedAt !== null && !(await this.polls.watchClosed(id, state)))
      throw new Problem('session_closed', `The user of session ${id} has been erased`);
    await this.readSince(id, Infinity);
    return this.answers.getSession(id);
  }

  /** The session as read at most `maxAgeMs` ago. A closed one is answered as it is: it will not change here. */
  async getFresh(id: string, maxAgeMs: number): Promise<SessionRow> {
    const session = await this.answers.getSession(id);
    const oldest = session.now.getTime() - maxAgeMs;
    if (session.closedAt !== null || session.checkedAt.getTime() >= oldest) return session;
    await this.readSince(id, oldest);
    return this.answers.getSession(id);
  }

  /** Reads, or joins the read that waits for its claim. */
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
   * Claims, unless the read of another that was under way turns out to be young enough: then null. Nobody joins afterwards. A closed
   * session is watched for this read: what shows life makes it watched again, anything else leaves it as it was.
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
        // A read of a closed session has ended. For a refresh it was sent too early, unless the user has been erased meanwhile.
        if (need.oldest < Infinity || !(await this.polls.watchClosed(id, state))) return null;
      } while (performance.now() < deadline);
    } finally {
      this.waiting.delete(id);
    }
    throw new Problem('remote_unavailable', 'Another read of this session has not ended yet', {
      retryAfterSeconds: 1,
    });
  }

  /** The batch is closed once the outcome of the read is written: one that is gone says that the read was good. */
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
      // Then nothing can be written now, and the lease runs out as that of a process that died.
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
