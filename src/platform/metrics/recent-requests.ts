import { Injectable } from '@nestjs/common';
import { Metrics } from './metrics.js';

interface Count {
  readonly at: number;
  readonly requests: number;
  readonly failed: number;
  readonly refused: number;
}

const PERIOD_MS = 60_000;
const COUNT_EVERY_MS = 5_000;
/** Matches routes whose 503 may only mean that the remote service cannot be called. The alert RequestsFail also excludes them. */
const PASSES_ON = /^\/api\/v1\/(onboarding\/pv|users\/[^/]+\/pv\/onboarding-sessions)\/./;

/** Counts the requests to our API in the last minute: all, those that failed by our fault, and those refused with a 4xx. */
@Injectable()
export class RecentRequests {
  private counts: readonly Count[] = [];

  constructor(private readonly metrics: Metrics) {}

  async count(): Promise<{ requests: number; failedRequests: number; refusedRequests: number }> {
    const at = performance.now();
    const now = { at, ...(await this.total()) };
    const recent = this.counts.filter((each) => at - each.at <= PERIOD_MS);
    const first = recent[0] ?? this.counts.at(-1) ?? now;
    this.counts = at - (recent.at(-1)?.at ?? -Infinity) >= COUNT_EVERY_MS ? [...recent, now] : recent;
    return {
      requests: now.requests - first.requests,
      failedRequests: now.failed - first.failed,
      refusedRequests: now.refused - first.refused,
    };
  }

  private async total() {
    const total = { requests: 0, failed: 0, refused: 0 };
    for (const { labels, value } of (await this.metrics.httpRequests.get()).values) {
      const [route, status] = [String(labels.route), String(labels.status)];
      if (!route.startsWith('/api/')) continue;
      total.requests += value;
      if (status.startsWith('4')) total.refused += value;
      if (status.startsWith('5') && !(status === '503' && PASSES_ON.test(route))) total.failed += value;
    }
    return total;
  }
}
