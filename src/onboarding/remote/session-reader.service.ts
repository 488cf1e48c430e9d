import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuthorisedRemote, REFUSALS } from '../../auth/authorised-remote.service.js';
import { Environment } from '../../platform/env/environment.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { Responses } from '../../remote/responses.service.js';
import {
  describeNotSent,
  isForeignRefusal,
  type Priority,
  type RemoteRequest,
  type Sent,
} from '../../remote/outcome.rules.js';
import type { SessionRead } from '../rules/read-plan.rules.js';
import * as client from './session.client.js';

/** A session to read, with the hash of its last recorded response. */
export interface ReadableSession {
  readonly sessionId: string;
  readonly userId: string;
  readonly responseHash: string | null;
}

/** A body of at least this length is parsed in its own event loop turn: a megabyte takes 20 ms, and many such bodies may arrive at once. */
const LONG_BODY = 64 * 1024;

const READ_OUTCOMES = ['unchanged', 'observed', 'not_found', 'refused', 'failed', 'not_sent'] as const;

const NO_RESPONSE = { status: 0, body: '', retryAfterMs: undefined };
const responseOf = (sent: Sent) => (sent.kind === 'response' ? sent.response : NO_RESPONSE);

/** The result of a read by one of the two paths. */
interface PathRead {
  readonly request: RemoteRequest;
  readonly status: number;
  /** Whether something in front of the service may have responded. */
  readonly isForeign: boolean;
  readonly read: SessionRead;
}

/** Reads sessions from the remote service. The remote service may use either of two paths; the last successful path is tried first. */
@Injectable()
export class SessionReader {
  private worked: client.PathShape | null = null;
  private lastTurn = Promise.resolve();
  private readonly reads = this.metrics.counter({
    name: 'pv_onboarding_session_reads_total',
    help: `Reads of sessions by this process, by outcome: ${READ_OUTCOMES.join(', ')}`,
    labels: ['outcome'],
  });

  constructor(
    private readonly remote: AuthorisedRemote,
    private readonly environment: Environment,
    private readonly responses: Responses,
    private readonly metrics: Metrics,
  ) {
    // Starts every counter at 0. If a counter appeared with its first read, Prometheus would not count that read as an increase.
    for (const outcome of READ_OUTCOMES) this.reads.inc({ outcome }, 0);
  }

  /** Reads a session. `priority` is `foreground` if a caller waits for the session; `signal` aborts the read. */
  async read(session: ReadableSession, priority: Priority, signal?: AbortSignal): Promise<SessionRead> {
    const read = await this.readAnywhere(session, priority, signal);
    this.reads.inc({ outcome: read.kind });
    return read;
  }

  /**
   * Reads a session by the path that names its user: only this path checks to which user the session belongs. Nothing is recorded about the
   * session yet, so one read decides, and the base probe may show that a refusal is about the session.
   */
  async readOfUser(session: ReadableSession, signal: AbortSignal): Promise<SessionRead> {
    const path = await this.readAt('user', session, 'background', signal);
    const read: SessionRead = path.isForeign
      ? { kind: 'not_sent', reason: 'foreign_response' }
      : await this.weighed(path, 'always');
    this.reads.inc({ outcome: read.kind });
    return read;
  }

  private async readAnywhere(session: ReadableSession, priority: Priority, signal?: AbortSignal) {
    const worked = this.worked;
    const [first, second] = client.planShapes(this.environment.SCS_SESSION_PATH, worked);
    const readBy = (shape: client.PathShape) => this.readAt(shape, session, priority, signal);
    const one = await readBy(first);
    if (second === undefined || !client.mayBeUnserved(one.status)) return this.weighed(one);
    const other = await readBy(second);
    if (!client.mayBeUnserved(other.status)) return other.read;
    if (one.isForeign !== other.isForeign)
      return this.weighed(one.isForeign && first !== worked ? other : one);
    const counts = client.statusOfSession(one.status, other.status, first === worked);
    return this.weighed(counts === one.status ? one : other);
  }

  /** Returns a read that was refused or found nothing, with `isOwn`: whether this concerns only this session. `not_sent`: it concerns all reads. */
  private async weighed(
    { read, request, status, isForeign }: PathRead,
    probes: 'few' | 'always' = 'few',
  ): Promise<SessionRead> {
    if (isForeign) this.remote.weigh(request, status, 'missing');
    if (read.kind !== 'refused' && read.kind !== 'not_found') return read;
    const refusal = await this.remote.weighRead(request, status, probes);
    if (refusal !== 'all') return { ...read, isOwn: refusal === 'call' };
    const reason = read.kind === 'refused' ? 'credentials_rejected' : 'foreign_response';
    return { kind: 'not_sent', reason };
  }

  /** Resolves in an event loop turn that no other long response uses. */
  private takeTurn(): Promise<void> {
    this.lastTurn = this.lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.lastTurn;
  }

  private async readAt(
    shape: client.PathShape,
    session: ReadableSession,
    priority: Priority,
    signal?: AbortSignal,
  ): Promise<PathRead> {
    const request = { ...client.readSessionRequest(shape, session), priority, signal };
    const sent = await this.remote.send(request, 'user', session.userId);
    const read = await this.interpret(sent, session);
    if (read.kind === 'unchanged' || read.kind === 'observed') this.worked = shape;
    const isForeign = sent.kind === 'response' && isForeignRefusal(sent.response);
    return { request, status: responseOf(sent).status, isForeign, read };
  }

  private async interpret(sent: Sent, session: ReadableSession): Promise<SessionRead> {
    const { status, body, retryAfterMs } = responseOf(sent);
    const bodyHash = hash('sha1', body);
    // Comparing hashes saves parsing, since most responses are unchanged. Excludes an empty body, since a recorded 404 has the same hash.
    if (status === 200 && body !== '' && bodyHash === session.responseHash) return { kind: 'unchanged' };
    if (body.length >= LONG_BODY) await this.takeTurn();
    const outcome = this.responses.interpret('read_session', sent, {
      documented: client.READ_RESPONSE,
      read: (fields) => {
        const observation = client.readReadSessionResponse(fields, session.sessionId);
        const recorded = client.recordableBody(body, fields);
        const factsHash = client.hashFacts(observation);
        return { observation, response: { httpStatus: status, body: recorded, hash: bodyHash, factsHash } };
      },
    });
    switch (outcome.kind) {
      case 'done':
        this.responses.reportDrift('read_session', client.findFlagDrift(outcome.value.observation));
        return { kind: 'observed', ...outcome.value };
      case 'rejected':
        if (status === 404 || status === 410) return { kind: 'not_found', status, isOwn: false };
        return REFUSALS.includes(status)
          ? { kind: 'refused', status, isOwn: false, retryAfterMs }
          : { kind: 'failed', error: `rejected with ${status}: ${outcome.detail}` };
      case 'not_sent':
        return outcome.reason === 'foreign_response'
          ? {
              kind: 'failed',
              error: describeNotSent(outcome),
              ...(retryAfterMs !== undefined && { retryAfterMs }),
            }
          : outcome;
      case 'ambiguous':
        return { kind: 'failed', error: outcome.reason, retryAfterMs: outcome.retryAfterMs };
      case 'unreadable':
        return { kind: 'failed', error: `unreadable: ${outcome.reason}` };
    }
  }
}
