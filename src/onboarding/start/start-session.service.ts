import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { AuthorisedRemote } from '../../auth/authorised-remote.service.js';
import { NEVER } from '../../platform/database/lease.js';
import { Environment } from '../../platform/env/environment.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { Problem } from '../../platform/problem/problem.js';
import { traced } from '../../platform/tracing/tracing.js';
import { faultBy, Responses } from '../../remote/responses.service.js';
import { foreignId } from '../../remote/drift.js';
import { failureOf, foreignFailure, type StartFailure } from '../rules/start-failure.rules.js';
import { SessionViewsStore, type SessionRow } from '../store/session-views.store.js';
import { START_RESPONSE, startSessionRequest } from '../remote/session.client.js';
import type { LeasedStart, WantedSession } from './record-session.store.js';
import { StartsStore } from './starts.store.js';

/** Maximum calls per start whose response is lost: each may leave an orphan. */
const MAX_ATTEMPTS = 2;
const CHECK_AGAIN_MS = 50;
const DEFAULT_RETRY_AFTER_MS = 5_000;

/** The problem of a start that was not sent, so that it has left nothing at the remote service. */
export class UnsentStart extends Problem {}

interface Started {
  readonly session: SessionRow;
  readonly reused: boolean;
}

/** Starts a session, or returns the one that is open or online, for example after a double click. */
@Injectable()
export class StartSessionService {
  private readonly logger = new Logger(StartSessionService.name);
  private readonly outcomes = this.metrics.counter({
    name: 'pv_onboarding_session_starts_total',
    help: 'Requests to start a session, by outcome: started, reused, the code of the problem, or error',
    labels: ['outcome'],
  });

  constructor(
    private readonly starts: StartsStore,
    private readonly views: SessionViewsStore,
    private readonly remote: AuthorisedRemote,
    private readonly environment: Environment,
    private readonly responses: Responses,
    private readonly metrics: Metrics,
  ) {}

  /** Starts or reuses a session. Throws Problem not_found, remote_rejected or remote_unavailable. */
  async start(wanted: WantedSession): Promise<Started> {
    try {
      const started = await traced({ name: 'start session' }, () => this.startOnce(wanted));
      this.outcomes.inc({ outcome: started.reused ? 'reused' : 'started' });
      return started;
    } catch (error) {
      this.outcomes.inc({ outcome: error instanceof Problem ? error.code : 'error' });
      const { gridLocationId } = wanted;
      if (error instanceof Problem && error.code !== 'not_found')
        this.logger.warn({ message: 'a start has failed', reason: error.message, gridLocationId });
      throw error;
    }
  }

  private async startOnce(wanted: WantedSession): Promise<Started> {
    const deadline = performance.now() + this.environment.SCS_TIMEOUT_MS * MAX_ATTEMPTS;
    do {
      const begun = await this.starts.begin(wanted);
      switch (begun.kind) {
        case 'exists': {
          const session = await this.views.findSequenced(begun.sessionId);
          if (session) return { session, reused: true };
          break;
        }
        case 'begun': {
          const { start } = begun;
          const id = await this.starts.leases.renewWhile(start, NEVER, () => this.send(start, wanted));
          const session = id && (await this.views.findSequenced(id));
          if (session) return { session, reused: false };
          break;
        }
        case 'held_back':
          throw unavailable(`The last start has failed: ${begun.error}`, begun.retryAfterMs, UnsentStart);
        case 'gone':
          throw new Problem('not_found', `There is no grid location ${wanted.gridLocationId}`);
        case 'in_flight':
          await pause(CHECK_AGAIN_MS);
      }
    } while (performance.now() < deadline);
    throw unavailable('Another request is starting this session and has no response yet');
  }

  /** Returns the session's id, or null if the lease is lost: the start was taken over or ended, or the user was erased. Throws Problem. */
  private async send(start: LeasedStart, wanted: WantedSession): Promise<string | null> {
    for (let attempt = start.attempts; ; attempt++) {
      const request = { ...startSessionRequest(wanted.gridLocationId), faultOf: faultBy(START_RESPONSE) };
      const sent = await this.remote.send(request, 'user', start.userId);
      const interpreted = this.responses.interpret('start_session', sent, START_RESPONSE);
      const outcome = await this.remote.weighOutcome(request, interpreted);
      switch (outcome.kind) {
        case 'done': {
          const recorded = await this.starts.record({ ...start, attempts: attempt }, outcome.value, wanted);
          switch (recorded.kind) {
            case 'lease_lost':
              return null;
            case 'recorded':
              return outcome.value.sessionId;
            case 'not_stored':
              throw await this.held(wanted, recorded.failure, 'database_unavailable');
            case 'foreign':
              // Does not retry: a service that mixes up ids must not get another call.
              this.responses.reportDrift('start_session', [foreignId('sessionId', recorded.owner)]);
              throw await this.fail(start, wanted, foreignFailure(recorded.owner), attempt);
          }
        }
        case 'rejected': {
          const failure = failureOf(outcome);
          await this.starts.fail(start, failure, 0);
          throw new Problem('remote_rejected', detailOf(failure));
        }
        case 'not_sent': {
          const failure = failureOf(outcome);
          await this.starts.fail(start, failure, 0);
          throw unavailable(detailOf(failure), outcome.retryAfterMs, UnsentStart);
        }
        case 'ambiguous': {
          const failure = failureOf(outcome);
          if (attempt < MAX_ATTEMPTS && (await this.starts.repeat(start, failure, attempt))) continue;
          throw await this.fail(start, wanted, failure, attempt);
        }
        case 'unreadable':
          // Does not retry: the session was started, and the next response would probably be as unreadable.
          throw await this.fail(start, wanted, failureOf(outcome), attempt);
      }
    }
  }

  /** Marks a start as failed that may have left orphans. Returns the problem. */
  private async fail(start: LeasedStart, wanted: WantedSession, failure: StartFailure, sends: number) {
    await this.starts.fail(start, failure, sends);
    return this.held(wanted, failure, 'remote_unavailable');
  }

  /** Returns the problem of a failed start, with the time until which the location and brand are held back. */
  private async held(wanted: WantedSession, failure: StartFailure, code: UnavailableCode): Promise<Problem> {
    const waitMs = Math.max(await this.starts.findWait(wanted).catch(() => 0), DEFAULT_RETRY_AFTER_MS);
    return new Problem(code, detailOf(failure), { retryAfterSeconds: waitMs / 1_000 });
  }
}

type UnavailableCode = 'remote_unavailable' | 'database_unavailable';

const detailOf = ({ error }: StartFailure): string => `The start has failed: ${error}`;

const unavailable = (detail: string, retryAfterMs = DEFAULT_RETRY_AFTER_MS, Kind = Problem): Problem =>
  new Kind('remote_unavailable', detail, { retryAfterSeconds: retryAfterMs / 1_000 });
