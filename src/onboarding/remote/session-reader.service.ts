import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuthorisedRemote } from '../../auth/authorised-remote.service.js';
import { Environment } from '../../platform/env/environment.js';
import { ContractDrift } from '../../remote/drift/contract-drift.service.js';
import type { Priority, RemoteAnswer, RemoteRequest } from '../../remote/outcome.rules.js';
import { outcomeOf } from '../../remote/wire/read-response.js';
import type { KeptAnswer, SessionRead } from '../rules/read-plan.rules.js';
import { planShapes } from './path-shape.rules.js';
import type { PathShape } from './path-shape.rules.js';
import {
  factsHashOf,
  findFlagDrift,
  keepableBody,
  READ_ANSWER,
  readReadSessionResponse,
  readSessionRequest,
} from './session.client.js';

/** A session to read, with the hash of its last recorded response. */
export interface ReadableSession {
  readonly sessionId: string;
  readonly userId: string;
  readonly answerHash: string | null;
}

const NOT_FOUND = [404, 410];
/** A response of at least this length is parsed in an event loop turn of its own: a megabyte takes 20 ms, and many may arrive at once. */
const LONG_ANSWER = 64 * 1024;

/** Reads a session from the remote service by whichever path shape works. */
@Injectable()
export class SessionReader {
  private worked: PathShape | null = null;
  private lastTurn = Promise.resolve();

  constructor(
    private readonly remote: AuthorisedRemote,
    private readonly environment: Environment,
    private readonly drift: ContractDrift,
  ) {}

  /** Reads a session. `priority` is `foreground` if a caller waits for it; `signal` aborts the read. */
  async read(session: ReadableSession, priority: Priority, signal?: AbortSignal): Promise<SessionRead> {
    let read: SessionRead = { kind: 'failed', error: 'no path shape' };
    for (const shape of planShapes(this.environment.SCS_SESSION_PATH, this.worked)) {
      read = await this.readAt({ ...readSessionRequest(shape, session), priority, signal }, session);
      if (read.kind === 'unchanged' || read.kind === 'observed') this.worked = shape;
      if (read.kind !== 'not_found') return read;
    }
    return read;
  }

  /** Resolves in an event loop turn that no other long response uses. */
  private takeTurn(): Promise<void> {
    this.lastTurn = this.lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.lastTurn;
  }

  private async readAt(request: RemoteRequest, session: ReadableSession): Promise<SessionRead> {
    const sent = await this.remote.send(request, 'user', session.userId);
    // Nearly every response equals the previous one: comparing the hashes saves the parsing, the checks and the write.
    if (sent.kind === 'answered' && sent.answer.status === 200 && isSame(sent.answer, session.answerHash)) {
      return { kind: 'unchanged' };
    }
    if (sent.kind === 'answered' && sent.answer.body.length >= LONG_ANSWER) await this.takeTurn();
    this.drift.examine('read_session', sent, READ_ANSWER);
    const outcome = outcomeOf(sent, (answer) => {
      const observation = readReadSessionResponse(answer, session.sessionId);
      return {
        observation,
        answer: {
          httpStatus: answer.status,
          body: keepableBody(answer.body),
          hash: hash('sha1', answer.body),
          factsHash: factsHashOf(observation),
        },
      };
    });
    this.drift.examineOutcome('read_session', outcome);
    switch (outcome.kind) {
      case 'done':
        this.drift.report('read_session', findFlagDrift(outcome.value.observation));
        return { kind: 'observed', ...outcome.value };
      case 'rejected':
        return NOT_FOUND.includes(outcome.status)
          ? { kind: 'not_found', answer: emptyAnswer(outcome.status) }
          : { kind: 'failed', error: `rejected with ${outcome.status}: ${outcome.detail}` };
      case 'not_sent':
        return { kind: 'not_sent', reason: outcome.reason, retryAfterMs: outcome.retryAfterMs };
      case 'ambiguous':
        return { kind: 'failed', error: outcome.reason, retryAfterMs: outcome.retryAfterMs };
      case 'unreadable':
        return { kind: 'failed', error: `unreadable: ${outcome.reason}` };
    }
  }
}

const emptyAnswer = (httpStatus: number): KeptAnswer => ({
  httpStatus,
  body: null,
  hash: hash('sha1', ''),
  factsHash: null,
});

/**
 * Returns whether the body has the hash of the last response. Hashes are compared as text: 0.5 µs instead of 2 µs with a Buffer for each.
 * An empty body is excluded, because it has the hash of the 404 that is recorded for a lost session.
 */
const isSame = (answer: RemoteAnswer, last: string | null): boolean =>
  last !== null && answer.body !== '' && last === hash('sha1', answer.body);
