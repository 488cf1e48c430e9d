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
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Does together what is asked for while the one before is under way, and what arrives in the same turn of the event loop. Nothing ever
 * waits for more to come, so where little is asked for it is done as soon as without this.
 */
export class Gathering<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private isUnderWay = false;

  constructor(
    private readonly work: Together<Item, Result>,
    private readonly mostAtOnce: number,
  ) {}

  add(item: Item): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.isUnderWay) return;
      this.isUnderWay = true;
      // What is done for several requests is not logged as the work of the first.
      runOutsideRequest(() => setImmediate(() => void this.doAll()));
    });
  }

  private async doAll(): Promise<void> {
    while (this.waiting.length > 0) await this.doTogether(this.waiting.splice(0, this.mostAtOnce));
    this.isUnderWay = false;
  }

  /** Never rejects. Nobody who comes later waits for those that are done alone. */
  private async doTogether(all: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.work.together(all.map(({ item }) => item));
      for (const [index, { item, resolve }] of all.entries()) {
        const result = results[index];
        resolve(result === undefined ? this.work.alone(item) : result);
      }
    } catch (error) {
      const areTriedAlone = all.length > 1 && this.work.mayBeOfOne(error);
      for (const { item, resolve, reject } of all) {
        if (areTriedAlone) resolve(this.work.alone(item));
        else reject(error);
      }
    }
  }
}
