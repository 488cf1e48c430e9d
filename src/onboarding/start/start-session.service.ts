import { Injectable } from '@nestjs/common';
import { AuthorisedRemote } from '../../auth/authorised-remote.service.js';
import { Environment } from '../../platform/env/environment.js';
import { Problem } from '../../platform/problem/problem.js';
import { ContractDrift } from '../../remote/drift/contract-drift.service.js';
import { foreignId } from '../../remote/drift/drift.js';
import type { Outcome } from '../../remote/outcome.rules.js';
import { outcomeOf } from '../../remote/wire/read-response.js';
import { SessionAnswersStore } from '../store/session-views.store.js';
import type { SessionRow } from '../store/session-views.store.js';
import { readStartSessionResponse, START_ANSWER, startSessionRequest } from '../remote/session.client.js';
import type { StartedSession } from '../remote/session.client.js';
import { StartedSessionsStore } from './started-sessions.store.js';
import type { ForeignSession } from './started-sessions.store.js';
import { StartsStore } from './starts.store.js';
import type { HeldStart, WantedSession } from './starts.store.js';

/**
 * A start whose response is lost is sent once more. The remote service has no look-up for a lost start, but a second one is harmless: the
 * first session is an orphan that expires unused. Not more often, or a service that loses every response would collect orphans.
 */
const MAX_ATTEMPTS = 2;
const LOOK_AGAIN_MS = 50;
const DEFAULT_RETRY_AFTER_SECONDS = 5;

/** Starts a session, or returns the one that a double click has already started. */
@Injectable()
export class StartSessionService {
  constructor(
    private readonly starts: StartsStore,
    private readonly sessions: StartedSessionsStore,
    private readonly answers: SessionAnswersStore,
    private readonly remote: AuthorisedRemote,
    private readonly environment: Environment,
    private readonly drift: ContractDrift,
  ) {}

  /** Throws Problem not_found, remote_rejected or remote_unavailable. */
  async start(wanted: WantedSession): Promise<{ readonly session: SessionRow; readonly reused: boolean }> {
    const deadline = performance.now() + this.environment.SCS_TIMEOUT_MS * MAX_ATTEMPTS;
    do {
      const begun = await this.starts.begin(wanted);
      switch (begun.kind) {
        case 'open':
          return { session: await this.answers.getSession(begun.sessionId), reused: true };
        case 'begun': {
          const session = await this.send(begun.start, wanted);
          if (session !== null) return { session, reused: false };
          break;
        }
        case 'gone':
          throw new Problem('not_found', `There is no grid location ${wanted.gridLocationId}`);
        case 'in_flight':
          await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      }
    } while (performance.now() < deadline);
    throw unavailable('another request is starting a session here and has no answer yet');
  }

  /**
   * Returns null if another process has taken the start over, or if the user has been erased. Throws Problem remote_rejected or
   * remote_unavailable.
   */
  private async send(start: HeldStart, wanted: WantedSession): Promise<SessionRow | null> {
    for (let attempt = start.attempts; ; attempt++) {
      const outcome = await this.sendOnce(wanted.gridLocationId, start.userId);
      switch (outcome.kind) {
        case 'done': {
          const kept = await this.sessions.keep(start, outcome.value, wanted);
          if (kept === 'known') return this.answers.getSession(outcome.value.sessionId);
          if (kept !== null && 'owner' in kept) return this.refuseForeign(start, kept, attempt);
          return kept;
        }
        case 'rejected':
          await this.starts.fail(start, `rejected with ${outcome.status}: ${outcome.detail}`, 0);
          throw new Problem(
            'remote_rejected',
            `The start was rejected with status ${outcome.status}: ${outcome.detail}`,
          );
        case 'not_sent':
          await this.starts.fail(start, outcome.reason, 0);
          throw unavailable(`The start was not sent (${outcome.reason})`, outcome.retryAfterMs);
        case 'ambiguous':
        case 'unreadable':
          if (attempt < MAX_ATTEMPTS && (await this.starts.repeat(start, outcome.reason, attempt))) continue;
          await this.starts.fail(start, outcome.reason, attempt);
          throw unavailable(`The answer to the start was lost (${outcome.reason})`);
      }
    }
  }

  /**
   * Fails the start and throws Problem remote_unavailable. The start is not sent again: no response was lost, and a service that mixes up
   * ids must not get more to mix up.
   */
  private async refuseForeign(start: HeldStart, { owner }: ForeignSession, sends: number): Promise<never> {
    this.drift.report('start_session', [foreignId('sessionId', owner)]);
    const error = `the sessionId of the answer belongs to ${owner}`;
    await this.starts.fail(start, error, sends);
    throw unavailable(`The start has failed: ${error}`);
  }

  private async sendOnce(gridLocationId: string, userId: string): Promise<Outcome<StartedSession>> {
    const sent = await this.remote.send(startSessionRequest(gridLocationId), 'user', userId);
    this.drift.examine('start_session', sent, START_ANSWER);
    return outcomeOf(sent, readStartSessionResponse);
  }
}

function unavailable(detail: string, retryAfterMs?: number): Problem {
  const retryAfterSeconds =
    retryAfterMs === undefined ? DEFAULT_RETRY_AFTER_SECONDS : Math.ceil(retryAfterMs / 1_000);
  return new Problem('remote_unavailable', detail, { retryAfterSeconds: Math.max(1, retryAfterSeconds) });
}
