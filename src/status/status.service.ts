import { Injectable } from '@nestjs/common';
import { TokenStore } from '../auth/token.store.js';
import { readBuild } from '../platform/build.js';
import { Database } from '../platform/database/database.js';
import { findTableLocks, nameLocks } from '../platform/database/table-locks.js';
import { Environment } from '../platform/env/environment.js';
import { HeldRequests } from '../platform/http/held-requests.js';
import { within } from '../platform/async/within.js';
import { databaseUnavailable } from '../platform/problem/problem-response.js';
import { Remote } from '../remote/remote.service.js';
import type { Facts } from './facts.view.js';
import { findReasons } from './reasons.js';
import { WORST_LAST } from './remote.view.js';
import { SignsOfLife } from './signs/signs-of-life.service.js';
import { StatusStore } from './status.store.js';

/** The facts and reasons of the deployment, and the facts that only the metrics use. */
export type DeploymentStatus = Awaited<ReturnType<StatusService['read']>>;

/** How long to wait for the figures while tables are locked: a person who looks for the cause sees it within seconds. */
const UNDER_LOCKS_MS = 3_000;

/** Composes the status of the deployment from the database, and from what this process knows. */
@Injectable()
export class StatusService {
  constructor(
    private readonly remote: Remote,
    private readonly tokens: TokenStore,
    private readonly store: StatusStore,
    private readonly signs: SignsOfLife,
    private readonly held: HeldRequests,
    private readonly database: Database,
    private readonly environment: Environment,
  ) {}

  /**
   * Reads the facts of the deployment, and finds its reasons. Throws Problem database_unavailable, which names the locked tables, if the
   * figures wait for a lock for too long. `timeoutMs`: of each statement.
   */
  async read(timeoutMs?: number) {
    const tableLocks = await findTableLocks(this.database);
    const reads = Promise.all([readBuild(), this.tokens.getStatus(), this.store.readFacts(timeoutMs)]);
    const late = () => Promise.reject(databaseUnavailable());
    const timely = tableLocks.length === 0 ? reads : within(UNDER_LOCKS_MS, reads, late);
    const [build, token, stored] = await timely.catch((error: unknown) => nameLocks(this.database, error));
    const { deployment, operations, pendingWishes, stalled } = stored;
    const { broker, ...readers } = stored.outbox.readers;
    const streams = { open: this.held.count('stream') };
    const facts: Facts = {
      build,
      tableLocks,
      hasNoSpace: this.database.hasNoSpace(),
      writesFault: this.signs.fault,
      remote: { ...this.remoteOf(token.state, deployment.degraded.length > 0), deployment },
      token,
      ...stored.shared,
      outbox: { ...stored.outbox, readers: { ...readers, streams, broker } },
    };
    const reasons = findReasons(facts, this.environment, stored.reasonsSince, stored.now);
    return { facts, reasons, operations, pendingWishes, stalled };
  }

  /** Returns the remote service as this replica sees it. */
  private remoteOf(token: Facts['token']['state'], isDegraded: boolean) {
    const remote = this.remote.status();
    const healths = Object.values(remote.operations).map(({ health }) => health);
    // The token is shared: if another replica received the refusal, the operations of this replica may be healthy.
    if (token === 'rejected') healths.push('unavailable');
    else if (token === 'on_trial' || isDegraded) healths.push('degraded');
    return { health: WORST_LAST.findLast((each) => healths.includes(each))!, ...remote };
  }
}
