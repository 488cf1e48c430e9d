import { Injectable } from '@nestjs/common';
import { readBuild, type Build } from '../../platform/build.js';
import { Database } from '../../platform/database/database.js';
import { RecentRequests } from '../../observability/metrics/recent-requests.js';
import type { OperationClass } from '../outcome.rules.js';
import type { LatestCalls } from '../pace/slow-calls.rules.js';

type Calls = readonly (LatestCalls & { readonly operation: OperationClass })[];

/** What a process tells of itself at each sign of life. `requests`: to our API, in the last minute. */
export interface ReplicaSigns {
  readonly requests: number;
  readonly failedRequests: number;
  readonly refusedRequests: number;
  readonly waitingForConnectionsSeconds: number;
  readonly longestStatement: string | null;
  readonly hasNoSpace: boolean;
  readonly latestCalls: Calls;
  readonly build: Build;
}

@Injectable()
export class Signs {
  constructor(
    private readonly database: Database,
    private readonly requests: RecentRequests,
  ) {}

  async read(latestCalls: Calls): Promise<ReplicaSigns> {
    const waitingForConnectionsSeconds = this.database.use.waitingSeconds();
    return {
      ...(await this.requests.count()),
      waitingForConnectionsSeconds,
      longestStatement: waitingForConnectionsSeconds > 0 ? this.database.use.longest() : null,
      hasNoSpace: this.database.hasNoSpace(),
      latestCalls,
      build: await readBuild(),
    };
  }
}
