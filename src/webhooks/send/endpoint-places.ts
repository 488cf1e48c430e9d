import { Injectable } from '@nestjs/common';

/** `reserved`: places for the deliveries that a query is about to return. */
interface Use {
  deliveries: number;
  tests: number;
  reserved: number;
}

/** Counts the requests in flight from this process to each endpoint. Deliveries and tests share the places of an endpoint. */
@Injectable()
export class EndpointPlaces {
  private readonly uses = new Map<string, Use>();
  private readonly waiting = new Set<() => void>();

  count(id: string, kind: keyof Use): number {
    return this.uses.get(id)?.[kind] ?? 0;
  }

  /** Takes `count` places. Returns a function that releases them. */
  take(id: string, kind: keyof Use, count = 1): () => void {
    const use = this.uses.get(id) ?? { deliveries: 0, tests: 0, reserved: 0 };
    this.uses.set(id, use);
    use[kind] += count;
    return () => {
      use[kind] -= count;
      if (use.deliveries + use.tests + use.reserved === 0) this.uses.delete(id);
      for (const resume of this.waiting) resume();
      this.waiting.clear();
    };
  }

  /** Takes a place for a test, when no place that it needs is reserved. Returns null if requests in flight use all `places`. */
  async takeForTest(id: string, places: number): Promise<(() => void) | null> {
    for (;;) {
      const used = this.count(id, 'deliveries') + this.count(id, 'tests');
      if (used >= places) return null;
      if (used + this.count(id, 'reserved') < places) return this.take(id, 'tests');
      await new Promise<void>((resolve) => this.waiting.add(resolve));
    }
  }
}
