import { Injectable } from '@nestjs/common';
import { TokenStore } from '../auth/token.store.js';
import { readBuild } from '../platform/build.js';
import { Database } from '../platform/database/database.js';
import { findTableLocks } from '../platform/database/table-locks.js';
import { Environment } from '../platform/env/environment.js';
import { HeldRequests } from '../platform/http/held-requests.js';
import { toProblem } from '../platform/problem/problem-response.js';
import { Problem } from '../platform/problem/problem.js';
import { Remote } from '../remote/remote.service.js';
import { findReasons } from './health.rules.js';
import { WORST_LAST } from './remote.view.js';
import { sinceOf } from './since.rules.js';
import { StatusStore } from './status.store.js';
import type { StatusView } from './status.view.js';

/** Composes the status of the deployment from the database, and from what this process knows. */
@Injectable()
export class StatusService {
  constructor(
    private readonly remote: Remote,
    private readonly tokens: TokenStore,
    private readonly store: StatusStore,
    private readonly held: HeldRequests,
    private readonly database: Database,
    private readonly environment: Environment,
  ) {}

  /** Reads the status. Throws Problem database_unavailable, which names the locked tables, if the figures wait for a lock for too long. */
  async read(): Promise<StatusView> {
    const reads = [readBuild(), this.tokens.getStatus(), this.store.readFacts()] as const;
    const [build, token, deployment] = await Promise.all(reads).catch((error: unknown) =>
      this.nameLocks(error),
    );
    const tableLocks = await findTableLocks(this.database);
    const {
      operations: _,
      tokenAgeSeconds: _age,
      pendingWishes: _wishes,
      reasonsSince,
      replicas,
      remote: shared,
      ...queues
    } = deployment;
    const { outbox } = queues;
    const { degraded } = shared.deployment;
    const remote = this.remote.status();
    const healths = Object.values(remote.operations).map(({ health }) => health);
    // The token is shared: if another replica received the refusal, the operations of this replica may be healthy.
    if (token.state === 'rejected') healths.push('unavailable');
    else if (token.state === 'on_trial' || degraded.length > 0) healths.push('degraded');
    const health = WORST_LAST.findLast((each) => healths.includes(each))!;
    const streams = { open: this.held.count('stream') };
    const { broker, ...readers } = outbox.readers;
    const facts = {
      build,
      replicas,
      tableLocks,
      remote: { health, ...remote, ...shared },
      token,
      ...queues,
      outbox: { ...outbox, readers: { ...readers, streams, broker } },
    };
    const now = new Date();
    const reasons = findReasons(facts, this.environment).map((reason) => ({
      ...reason,
      since: sinceOf(reason.code, facts, reasonsSince[reason.code], now),
    }));
    return { health: reasons.length === 0 ? 'healthy' : 'degraded', reasons, ...facts };
  }

  private async nameLocks(error: unknown): Promise<never> {
    const problem = toProblem(error);
    if (problem?.code !== 'database_unavailable') throw error;
    const locks = await findTableLocks(this.database);
    if (locks.length === 0) throw error;
    throw new Problem('database_unavailable', `The figures wait: ${locks.join('; ')}`, problem.extra);
  }
}
