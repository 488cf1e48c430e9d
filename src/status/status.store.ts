import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { READ_BACKLOG, READ_SHARED_REMOTE } from './status.sql.js';

/** The backlog of the whole deployment; ages in seconds, 0 if nothing waits. */
export interface Backlog {
  readonly watched: number;
  readonly overdue: number;
  readonly oldestOverdueSeconds: number;
  /** Sessions and batches that workers have claimed now, and batches whose lease has lapsed. */
  readonly reading: number;
  readonly batches: number;
  readonly abandonedBatches: number;
  readonly unsequenced: number;
  readonly oldestUnsequencedSeconds: number;
  readonly undelivered: number;
  /** Deliveries of `undelivered` whose handler has failed at least once. */
  readonly failing: number;
  readonly oldestUndeliveredSeconds: number;
  readonly endpoints: number;
  readonly failingEndpoints: number;
  readonly disabledEndpoints: number;
  /** Of the enabled webhook endpoint that is furthest behind. */
  readonly unreadByEndpoints: number;
  readonly webhooksUndelivered: number;
  readonly webhooksFailing: number;
  readonly oldestWebhookSeconds: number;
  /** Null if no process has ever had a broker. */
  readonly broker: BrokerPlace | null;
  readonly unpublished: number;
  readonly oldestUnpublishedSeconds: number;
  readonly pending: number;
  readonly oldestPendingSeconds: number;
  readonly uncertain: number;
  readonly oldestUncertainSeconds: number;
}

export interface BrokerPlace {
  readonly kind: string;
  readonly isPublishing: boolean;
  /** ISO 8601, as in JSON. */
  readonly publishedAt: string | null;
  readonly failingSince: string | null;
  readonly lastError: string | null;
}

/** What all replicas together know about the remote service. */
export interface SharedRemote {
  readonly degraded: readonly {
    readonly operation: string;
    readonly health: 'degraded' | 'credentials_rejected';
    readonly since: Date;
    readonly reason: string;
  }[];
  /** The number of ways in which its responses differ from the interface. */
  readonly contractDrift: number;
}

@Injectable()
export class StatusStore {
  constructor(private readonly database: Database) {}

  async readBacklog(): Promise<Backlog> {
    const [row] = await this.database.query<Backlog>(READ_BACKLOG);
    return row!;
  }

  async readSharedRemote(): Promise<SharedRemote> {
    const [row] = await this.database.query<SharedRemote>(READ_SHARED_REMOTE);
    // Times in JSON arrive as text, in another format than in the rest of the response.
    return { ...row!, degraded: row!.degraded.map((each) => ({ ...each, since: new Date(each.since) })) };
  }
}
