import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Loop } from '../async/loop.js';
import { WakeUp } from '../async/wake-up.js';
import { Listener } from '../database/connection/listen.js';

/** A task that waits is asked about up to this much early, and no more than half of its pause, so that one question covers many tasks. */
const EARLY_MS = 500;
/**
 * If a task has not been asked about for this long, as after a suspension of the process, it runs: its condition may have held and ended
 * meanwhile.
 */
const LATE_MS = 10_000;
const LONGEST_PAUSE_MS = 60_000;

interface Wait {
  readonly condition: string;
  readonly everyMs: number;
  readonly wake: () => void;
  askAt: number;
}

/**
 * Asks PostgreSQL for all waiting tasks of this process together what is due, so that an idle process asks once a second. The question is
 * also the heartbeat of the listening connection. If it fails, or no notifications arrive, every task that it is about counts as due, and
 * looks for itself.
 */
@Injectable()
export class DueWork implements OnModuleDestroy {
  private readonly conditions: string[] = [];
  private readonly waits = new Set<Wait>();
  private readonly added = new WakeUp();
  private loop: Loop | undefined;

  constructor(private readonly listener: Listener) {}

  /** Adds a condition to the question: a SELECT that returns a row while the task has work. It must be cheap: it is asked every second. */
  declare(condition: string): void {
    this.conditions.push(condition);
  }

  /** Calls `wake` once `condition` holds. Asks in `everyMs` for the first time. Returns a function that ends the wait. */
  wait(condition: string, everyMs: number, wake: () => void): () => void {
    const wait = { condition, everyMs, wake, askAt: performance.now() + everyMs };
    this.waits.add(wait);
    this.added.signal();
    if (this.loop === undefined) {
      // `ask` does not throw: if the question fails, every task that it is about counts as due.
      this.loop = new Loop({ step: () => this.ask(), onError: () => EARLY_MS, wakeUp: this.added });
      this.loop.start();
    }
    return () => void this.waits.delete(wait);
  }

  // Does not wait: a question that is open ends with its connection.
  onModuleDestroy(): void {
    void this.loop?.stop();
  }

  /** Asks if a wait has come to its time, and returns the ms until the next question. */
  private async ask(): Promise<number> {
    const now = performance.now();
    const waits = [...this.waits];
    if (waits.some(({ askAt }) => askAt <= now)) {
      const asked = waits.filter(({ askAt, everyMs }) => askAt <= now + Math.min(EARLY_MS, everyMs / 2));
      const due = await this.findDue(asked.map(({ condition }) => condition));
      for (const wait of asked) {
        if (due.has(wait.condition) || now - wait.askAt > LATE_MS) this.end(wait);
        else wait.askAt = now + wait.everyMs;
      }
    }
    const next = Math.min(...[...this.waits].map(({ askAt }) => askAt)) - performance.now();
    return Math.min(Math.max(next, 1), LONGEST_PAUSE_MS);
  }

  private end(wait: Wait): void {
    if (this.waits.delete(wait)) wait.wake();
  }

  /** Returns which of the conditions hold. */
  private async findDue(asked: readonly string[]): Promise<ReadonlySet<string>> {
    const { conditions } = this;
    // One text for all questions, so that PostgreSQL plans it once. CASE skips the conditions that are not asked about.
    const columns = conditions.map(
      (condition, i) => `CASE WHEN ($2::boolean[])[${i + 1}] THEN EXISTS (${condition}) END`,
    );
    try {
      const answer = await this.listener.ask<{ due: (boolean | null)[] }>({
        name: `tasks.find_due_${conditions.length}`,
        columns: `ARRAY[${columns.join(', ')}] AS due`,
        value: conditions.map((condition) => asked.includes(condition)),
      });
      return answer === null ? new Set(asked) : new Set(conditions.filter((_, i) => answer.due[i]));
    } catch {
      return new Set(asked);
    }
  }
}
