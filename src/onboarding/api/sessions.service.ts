import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ActiveCallers } from '../../access/active-callers.service.js';
import { actorOf, type Principal } from '../../access/scopes.js';
import { EventSignal } from '../../events/event-signal.service.js';
import { Coalescer } from '../../platform/async/coalescer.js';
import { WakeUp } from '../../platform/async/wake-up.js';
import { HeldRequests, type HoldableRequest } from '../../platform/http/held-requests.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { Problem } from '../../platform/problem/problem.js';
import { SessionRefreshService } from '../poll/refresh.service.js';
import type { SessionState } from '../rules/machine.rules.js';
import { SessionViewsStore, type SessionRow } from '../store/session-views.store.js';
import type { SessionQuery } from './sessions.dto.js';

/** A caller that waits until the state of the session is no longer `from`. */
interface Wait {
  readonly sessionId: string;
  readonly from: SessionState;
}

/** Reads sessions for callers. Checks the sessions of all waiting callers after new events, and at least once a second. */
@Injectable()
export class SessionsService implements OnModuleDestroy {
  private readonly waiters = new Set<Wait & { readonly end: WakeUp }>();
  private readonly checks = new Coalescer(() => this.endWaits());
  private isStopping = false;

  constructor(
    private readonly refreshes: SessionRefreshService,
    private readonly views: SessionViewsStore,
    private readonly held: HeldRequests,
    private readonly callers: ActiveCallers,
    signal: EventSignal,
    metrics: Metrics,
  ) {
    signal.onSignal(() => void this.checks.run());
    metrics.gauge({
      name: 'pv_onboarding_waiting_requests',
      help: 'Requests that wait for a session to change',
      collect: (gauge) => gauge.set(this.waiters.size),
    });
  }

  // Ends all waits, because a waiting request would delay the shutdown.
  onModuleDestroy(): void {
    this.isStopping = true;
    for (const { end } of this.waiters) end.signal();
  }

  /**
   * Returns the session. Waits for at most `wait` seconds while the state is `from`. Default of `from`: the current state. If `stale` is
   * given and the remote service cannot be read, returns the stored session, marked as stale. Throws Problem, for example replica_busy.
   */
  async read(
    id: string,
    { maxAge, stale, wait = 0, from }: SessionQuery,
    key: Principal,
    request: HoldableRequest,
  ): Promise<SessionRow> {
    const maxAgeMs = maxAge === undefined ? Infinity : maxAge * 1_000;
    const session = await (stale === undefined
      ? this.refreshes.getFresh(id, maxAgeMs)
      : this.getFreshOrStale(id, maxAgeMs));
    const { state, closedAt, checkedAt } = session;
    if (wait === 0 || closedAt !== null || state !== (from ?? state)) return session;
    const awaited = { sessionId: id, from: state };
    await this.held.hold('wait', request, actorOf(key), (gone) =>
      this.wait(awaited, key, wait * 1_000, gone),
    );
    await this.callers.require(key);
    const later = await this.refreshes.getSession(id);
    // `checkedAt` changes only once the batch of the read is closed, so a changed state also shows that the session was read.
    const wasRead = later.checkedAt.getTime() !== checkedAt.getTime() || later.state !== state;
    return { ...later, stale: session.stale && !wasRead };
  }

  private async getFreshOrStale(id: string, maxAgeMs: number): Promise<SessionRow> {
    try {
      return { ...(await this.refreshes.getFresh(id, maxAgeMs)), stale: false };
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'remote_unavailable')) throw error;
      return { ...(await this.refreshes.getSession(id)), stale: true };
    }
  }

  /** Waits for at most `waitMs`. Ends if the state changes, the watch or process ends, `gone` aborts, or the caller may not act. */
  private async wait(awaited: Wait, key: Principal, waitMs: number, gone: AbortSignal) {
    if (this.isStopping) return;
    const waiter = { ...awaited, end: new WakeUp() };
    this.waiters.add(waiter);
    const unwatch = this.callers.watch(key, () => waiter.end.signal());
    // The state may have changed since the read that returned `from`.
    void this.checks.run();
    await waiter.end.wait(gone, waitMs);
    unwatch();
    this.waiters.delete(waiter);
  }

  private async endWaits(): Promise<void> {
    const waiters = [...this.waiters];
    if (waiters.length === 0) return;
    const ids = new Set(waiters.map(({ sessionId }) => sessionId));
    // While the database is unavailable, the waiters continue to wait.
    const states = await this.views.findWatchedStates([...ids]).catch(() => null);
    if (states === null) return;
    for (const { sessionId, from, end } of waiters) if (states.get(sessionId) !== from) end.signal();
  }
}
