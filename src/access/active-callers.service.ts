import { Injectable } from '@nestjs/common';
import { BackgroundTasks, task } from '../platform/tasks/background-tasks.js';
import type { Problem } from '../platform/problem/problem.js';
import { keyRevoked, requireSession, sessionOver, type Caller } from './acting-caller.js';
import { ApiKeysStore } from './api-keys.store.js';

interface Watch {
  readonly caller: Caller;
  readonly end: (why: Problem) => void;
}

/** Notices during a long request that its key has been revoked, or that its session of the console is over. */
@Injectable()
export class ActiveCallers extends BackgroundTasks {
  // docs/api.md promises that nothing of a revoked key goes on for more than 5 s.
  protected readonly tasks = [
    task({ name: 'access.end_refused', everyMs: 2_000, run: () => this.endRefused() }),
  ];
  private readonly watches = new Set<Watch>();

  constructor(private readonly keys: ApiKeysStore) {
    super('revoked keys could not be read');
  }

  /** Throws Problem unauthenticated if the caller may no longer act. Call it before a response that is sent long after its request. */
  async require(caller: Caller): Promise<void> {
    requireSession(caller);
    if (caller.id !== null && (await this.keys.findRevoked([caller.id])).length > 0) throw keyRevoked();
  }

  /** Calls `end` once the caller may no longer act. Returns a function that stops the watch. */
  watch(caller: Caller, end: Watch['end']): () => void {
    const watch = { caller, end };
    this.watches.add(watch);
    return () => void this.watches.delete(watch);
  }

  private async endRefused(): Promise<void> {
    const now = Date.now();
    this.endWhere(({ consoleUntil = Infinity }) => consoleUntil <= now, sessionOver());
    const ids = new Set([...this.watches].flatMap(({ caller }) => caller.id ?? []));
    if (ids.size === 0) return;
    const revoked = new Set<string | null>(await this.keys.findRevoked([...ids]));
    this.endWhere(({ id }) => revoked.has(id), keyRevoked());
  }

  private endWhere(isRefused: (caller: Caller) => boolean, why: Problem): void {
    for (const watch of this.watches) {
      if (!isRefused(watch.caller)) continue;
      this.watches.delete(watch);
      watch.end(why);
    }
  }
}
