import { runOutsideRequest } from '../http/request-context.js';

/** How what several callers ask for is done in one go. */
export interface Together<Item, Result> {
  /** A result for each item, at its index; undefined for one that has to be done alone. */
  together(items: readonly Item[]): Promise<readonly (Result | undefined)[]>;
  alone(item: Item): Promise<Result>;
  /** Whether a failure of `together` may come from one of the items, so that each is tried alone; if not, it is the failure of all. */
  mayBeOfOne(error: unknown): boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A go that lasts longer waits for a connection or for a lock, and whoever comes meanwhile would wait for it and then for their own:
 * they get a go beside it.
 */
const SLOW_MS = 250;
/** Of those that are tried alone, so that they do not take every connection of the process. */
const ALONE_AT_ONCE = 4;

/**
 * Does together what is asked for while the go before is under way, and what arrives in the same turn of the event loop. Nothing ever
 * waits for more to come, so where little is asked for it is done as soon as without this.
 */
export class Gathering<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  /** Whether a go is under way, or about to be, that those who come now wait for. */
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
    // What is done for several requests is not logged as the work of the first.
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

  /** Never rejects. */
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

  /** Beside the next go: nobody who comes later waits for these. */
  private async doAlone(all: readonly Waiting<Item, Result>[]): Promise<void> {
    const rest = all.values();
    const some = async (): Promise<void> => {
      for (const { item, resolve, reject } of rest) await this.work.alone(item).then(resolve, reject);
    };
    await Promise.all(Array.from({ length: Math.min(all.length, ALONE_AT_ONCE) }, some));
  }
}
