import { Injectable } from '@nestjs/common';
import { ApiKeysStore } from '../access/api-keys.store.js';
import { InternalRequests, type InternalResponse } from './internal-requests.js';
import { Operations } from '../access/operations.js';
import type { Principal } from '../access/scopes.js';
import { BackgroundTasks, task } from '../platform/tasks/background-tasks.js';
import { WakeUp } from '../platform/async/wake-up.js';
import { Database } from '../platform/database/database.js';
import type { Lease } from '../platform/database/lease.js';
import { LeasedWork } from '../platform/database/leased-work.js';
import { Environment } from '../platform/env/environment.js';
import { stopsWithin } from '../platform/shutdown/limits.js';
import { resultOf, UNAUTHENTICATED, withoutText } from './bulk-result.rules.js';
import { BULK_LEASES, FIND_DUE } from './bulk-actions.sql.js';
import {
  BulkActionsStore,
  requestIdOf,
  type BegunItem,
  type BulkAction,
  type ItemResult,
} from './bulk-actions.store.js';

const STOP_WITHIN_MS = stopsWithin(1_000);
/** How many ids are begun at once. After a crash, the audit log is asked about these. */
const AT_ONCE = 10;
const WORK = {
  leaseMs: 30_000,
  backoff: { firstMs: 500, mostMs: 30_000 },
  mostAtOnce: 4,
  failure: 'a bulk action is interrupted',
  idField: 'bulkActionId',
};
/** How often a request is sent that was refused for now, and the most seconds in between. */
const TRIES = 4;
const MOST_WAIT_SECONDS = 10;
const RETRY_REFUSED_MS = 2_000;

/*
 * An action runs in a process that serves the API, as one request after the other within this process. So each id gets what its operation
 * does for one caller: its checks, its preconditions, its audit entry. The caller is read anew for each id: a revoked key acts no more.
 *
 * What a crash leaves: the ids of a batch that were begun and have no result. Another process claims the action at the end of the lease. An
 * operation that must not be repeated has an audit entry in its own transaction, with the request id of the action, so the process sends no
 * second request for it. The others may be repeated.
 *
 * An id whose row PostgreSQL refuses to change is passed over, and tried again after the others. If it is refused for minutes, the action
 * ends, and the id is shown as failed.
 */
/** Executes bulk actions. */
@Injectable()
export class BulkRunner extends BackgroundTasks {
  /** How long to try again what the database refuses. Replaced in tests. */
  patienceMs = 5 * 60_000;
  /** Signalled when an action is created in this process. */
  readonly wakeUp = new WakeUp();
  protected readonly tasks = [
    task({
      name: 'bulk_actions.run',
      everyMs: 1_000,
      due: FIND_DUE,
      wakeUp: this.wakeUp,
      run: (stop) => this.startDue(stop),
    }),
  ];
  protected override readonly work = new LeasedWork(this.database, BULK_LEASES, WORK, this.logger);

  constructor(
    private readonly database: Database,
    private readonly store: BulkActionsStore,
    private readonly operations: Operations,
    private readonly requests: InternalRequests,
    private readonly keys: ApiKeysStore,
    { ROLE }: Environment,
  ) {
    // A worker serves no operations.
    super('bulk actions could not be found', ROLE !== 'worker', STOP_WITHIN_MS);
  }

  private async startDue(stop: AbortSignal): Promise<void> {
    for (const id of await this.store.findDue()) this.work.begin(id, stop, (lease) => this.run(id, lease));
  }

  private async run(id: string, lease: Lease): Promise<number> {
    const action = await this.store.read(id);
    /** The results of the ids whose row PostgreSQL refuses to change, by their places. Null: not begun. */
    const refused = new Map<number, ItemResult | null>();
    let giveUpAt = Infinity;
    while (!lease.signal.aborted) {
      const { items, notBegun } = await this.store.begin(id, lease.token, AT_ONCE, [...refused.keys()]);
      for (const ordinal of notBegun) refused.set(ordinal, null);
      for (const item of items) {
        const result = await this.act(action, item, lease);
        if (result === null) return 0;
        if (!(await this.store.settle(id, lease.token, item.ordinal, result)))
          refused.set(item.ordinal, result);
      }
      giveUpAt = refused.size === 0 ? Infinity : Math.min(giveUpAt, performance.now() + this.patienceMs);
      if (items.length + notBegun.length > 0) continue;
      const isOver = performance.now() >= giveUpAt;
      const mustTryAgain = refused.size > 0 && !isOver;
      await this.settleRefused(id, lease, refused, isOver);
      if (mustTryAgain) continue;
      await this.store.finish(id, lease.token, [...refused.keys()]);
      break;
    }
    return 0;
  }

  /** Tries again to store the results in `refused`, at the end without their texts. Keeps there what is refused again. */
  private async settleRefused(
    id: string,
    { signal, token }: Lease,
    refused: Map<number, ItemResult | null>,
    isOver: boolean,
  ): Promise<void> {
    if (refused.size > 0 && !isOver) await new WakeUp().wait(signal, RETRY_REFUSED_MS);
    for (const [ordinal, result] of refused) {
      const isSettled =
        result !== null &&
        (await this.store.settle(id, token, ordinal, isOver ? withoutText(result) : result));
      // What was not begun is begun again.
      if (isSettled || (result === null && !isOver)) refused.delete(ordinal);
      else if (isOver)
        this.logger.error({
          message: `the result of the id at place ${ordinal} cannot be stored`,
          bulkActionId: id,
        });
    }
  }

  /** Returns null if the lease is lost or the process stops. */
  private async act(action: BulkAction, item: BegunItem, lease: Lease): Promise<ItemResult | null> {
    if (item.wasBegun && (await this.store.isDone(action, item.id)))
      return { status: 'done', code: null, detail: null };
    const pause = new WakeUp();
    for (let attempt = 1; ; attempt++) {
      const caller = await this.findCaller(action.caller);
      if (caller === null) return UNAUTHENTICATED;
      if (lease.signal.aborted || !lease.isCertain()) return null;
      const response = await this.send(action, item.id, caller);
      const retryAfterSeconds = response.retryAfterSeconds ?? 1;
      // A longer limit is one of the subject, such as that of reminders.
      const isShort = response.status === 429 && retryAfterSeconds <= MOST_WAIT_SECONDS;
      const mayPass = response.status === 503 || isShort;
      if (!mayPass || attempt === TRIES) return resultOf(response);
      const seconds = Math.min(retryAfterSeconds, MOST_WAIT_SECONDS);
      await pause.wait(lease.signal, seconds * 1_000);
    }
  }

  private async findCaller(caller: Principal | null): Promise<Principal | null> {
    if (caller === null || (caller.consoleUntil ?? Infinity) <= Date.now()) return null;
    if (caller.id === null) return caller;
    const key = await this.keys.find({ id: caller.id });
    return key && { ...caller, ...key };
  }

  private send(action: BulkAction, id: string, caller: Principal): Promise<InternalResponse> {
    const { method, path } = this.operations.of(action.operationId)!;
    return this.requests.send(caller, {
      method,
      path: path.replace(/:\w+/, id),
      requestId: requestIdOf(action.id),
      ...(Object.keys(action.arguments).length > 0 && { body: action.arguments }),
    });
  }
}
