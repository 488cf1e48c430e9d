import { runOutsideRequest } from '../http/request-context.js';

/** How the items of several callers are processed in one batch. */
export interface Together<Item, Result> {
  /** Returns a result for each item, at its index; undefined for an item that must be processed alone. */
  together(items: readonly Item[]): Promise<readonly (Result | undefined)[]>;
  alone(item: Item): Promise<Result>;
  /**
   * Returns whether a failure of `together` may come from one of the items. If so, each item is tried alone; if not, all items fail with
   * it.
   */
  mayBeOfOne(error: unknown): boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** A batch still running after this long is stuck on a connection or lock; start another for newcomers. */
const SLOW_MS = 250;
/** Bound on the items tried alone at the same time, so that they do not take every connection of the process. */
const ALONE_AT_ONCE = 4;

/**
 * Processes together the items that arrive while the previous batch runs, or in the same turn of the event loop. It never waits for more
 * items, so under light load it adds no delay.
 */
export class Gathering<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  /** Whether newcomers wait for a batch that runs or is about to run. */
  private isUnderWay = false;

  constructor(
    private readonly work: Together<Item, Result>,
    private readonly mostAtOnce: number,
  ) {}

  add(item: Item): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (!this.isUnderWay) this.begin();
    });
  }

  private begin(): void {
    this.isUnderWay = true;
    // Outside any request, so that work for several requests is not logged under the first one.
    runOutsideRequest(() => setImmediate(() => void this.doAll()));
  }

  private async doAll(): Promise<void> {
    let isSlow = false;
    while (this.waiting.length > 0 && !isSlow) {
      const timer = setTimeout(() => {
        isSlow = true;
        this.isUnderWay = false;
        if (this.waiting.length > 0) this.begin();
      }, SLOW_MS);
      await this.doTogether(this.waiting.splice(0, this.mostAtOnce));
      clearTimeout(timer);
    }
    if (!isSlow) this.isUnderWay = false;
  }

  /** Settles a batch; never rejects. */
  private async doTogether(all: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.work.together(all.map(({ item }) => item));
      for (const [index, { resolve }] of all.entries()) {
        const result = results[index];
        if (result !== undefined) resolve(result);
      }
      void this.doAlone(all.filter((_, index) => results[index] === undefined));
    } catch (error) {
      if (all.length > 1 && this.work.mayBeOfOne(error)) void this.doAlone(all);
      else for (const { reject } of all) reject(error);
    }
  }

  /** Runs beside the next batch, so that later items do not wait for these. */
  private async doAlone(all: readonly Waiting<Item, Result>[]): Promise<void> {
    const rest = all.values();
    const some = async (): Promise<void> => {
      for (const { item, resolve, reject } of rest) await this.work.alone(item).then(resolve, reject);
    };
    await Promise.all(Array.from({ length: Math.min(all.length, ALONE_AT_ONCE) }, some));
  }
}
