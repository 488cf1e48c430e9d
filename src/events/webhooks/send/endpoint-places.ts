import { Injectable } from '@nestjs/common';

interface Use {
  deliveries: number;
  tests: number;
}

/** Counts the requests in flight from this process to each endpoint. Deliveries and tests share the places of an endpoint. */
@Injectable()
export class EndpointPlaces {
  private readonly uses = new Map<string, Use>();

  count(id: string, kind: keyof Use): number {
    return this.uses.get(id)?.[kind] ?? 0;
  }

  /** Takes `count` places. Returns a function that releases them. */
  take(id: string, kind: keyof Use, count = 1): () => void {
    const use = this.uses.get(id) ?? { deliveries: 0, tests: 0 };
    this.uses.set(id, use);
    use[kind] += count;
    return () => {
      use[kind] -= count;
      if (use.deliveries + use.tests === 0) this.uses.delete(id);
    };
  }

  /** Takes a place for a test. Returns null if deliveries and tests use all `places`. */
  tryTest(id: string, places: number): (() => void) | null {
    const used = this.count(id, 'deliveries') + this.count(id, 'tests');
    return used < places ? this.take(id, 'tests') : null;
  }
}
