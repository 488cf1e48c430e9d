import { Injectable } from '@nestjs/common';
import { Database, type Sql, type Statement } from '../platform/database/database.js';
import { readBudget, type Budget } from './budget.store.js';
import type { StatusView } from './status.view.js';

type Outbox = StatusView['outbox'];
type Deployment = StatusView['remote']['deployment'];

/** The backlog of the whole deployment, with the fields of the response. `broker` is null if no process has ever used a broker. */
export interface Backlog
  extends Pick<StatusView, 'poller' | 'registrations' | 'starts'>, Omit<Outbox['readers'], 'streams'> {
  readonly outbox: Omit<Outbox, 'readers'>;
}

// Scans only index ranges of waiting rows, so the cost grows with the backlog, not with the history. Exception: `watched` counts all
// rows of a narrow table. A session is overdue if the poller would claim it: it is due, and no existing batch contains it.
const READ_BACKLOG: Statement = {
  name: 'status.read_backlog',
  text: `
    WITH overdue AS (
      SELECT count(*) AS overdue, ${age('min(q.due_at)')} AS "oldestOverdueSeconds"
      FROM session_polls q
      WHERE q.due_at <= now() AND NOT EXISTS (SELECT 1 FROM poll_batches b WHERE b.id = q.batch_id)
    ), reading AS (
      SELECT coalesce(sum(size), 0) AS reading, count(*) AS batches,
             count(*) FILTER (WHERE lease_until < now()) AS "abandonedBatches"
      FROM poll_batches
    ), poller AS (
      SELECT (SELECT count(*) FROM session_polls) AS watched, overdue.*, reading.* FROM overdue, reading
    ), outbox AS (
      SELECT count(*) AS unsequenced, ${age('min(time)')} AS "oldestUnsequencedSeconds" FROM domain_events WHERE sequence IS NULL
    ), handlers AS (
      SELECT count(*) AS undelivered, count(*) FILTER (WHERE attempts > 0) AS failing,
             ${age('min(created_at)')} AS "oldestUndeliveredSeconds"
      FROM handler_deliveries
    ), newest AS (
      SELECT coalesce(max(sequence), 0) AS sequence FROM domain_events
    ), endpoints AS (
      SELECT count(*) FILTER (WHERE disabled_at IS NULL) AS endpoints,
             count(*) FILTER (WHERE disabled_at IS NULL AND failures > 0) AS "failingEndpoints",
             count(*) FILTER (WHERE disabled_reason <> 'requested') AS "disabledEndpoints",
             greatest(0, (SELECT sequence FROM newest) - min(read_to) FILTER (WHERE disabled_at IS NULL)) AS unread
      FROM webhook_endpoints
    ), deliveries AS (
      SELECT count(*) AS undelivered, count(*) FILTER (WHERE delivery.attempts > 0) AS failing,
             ${age('min(delivery.created_at)')} AS "oldestUndeliveredSeconds"
      FROM webhook_deliveries AS delivery JOIN webhook_endpoints AS endpoint ON endpoint.id = delivery.endpoint_id
      WHERE delivery.status = 'pending' AND endpoint.disabled_at IS NULL
    ), webhooks AS (
      SELECT * FROM endpoints, deliveries
    ), broker AS (
      SELECT name AS kind, coalesce(lease_until > clock_timestamp(), false) AS "isPublishing",
             newest.sequence - read_to AS unpublished,
             ${age('(SELECT time FROM domain_events WHERE sequence > read_to ORDER BY sequence LIMIT 1)')} AS "oldestUnpublishedSeconds",
             published_at AS "publishedAt", failing_since AS "failingSince", last_error AS "lastError", warnings
      FROM broker_positions, newest
    ), registrations AS (
      SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
             ${age(`min(created_at) FILTER (WHERE status = 'pending')`)} AS "oldestPendingSeconds",
             count(*) FILTER (WHERE status = 'uncertain') AS uncertain,
             ${age(`min(created_at) FILTER (WHERE status = 'uncertain')`)} AS "oldestUncertainSeconds"
      FROM registrations WHERE status IN ('pending', 'uncertain')
    ), abandoned AS (
      SELECT count(*) AS abandoned, ${age('min(lease_until)')} AS "oldestAbandonedSeconds"
      FROM session_starts WHERE status = 'sending' AND lease_until < now()
    ), orphans AS (
      SELECT coalesce(sum(orphans), 0) AS orphans FROM session_starts
      WHERE orphans > 0 AND updated_at > now() - interval '1 day'
    ), starts AS (
      SELECT * FROM abandoned, orphans
    )
    SELECT to_json(poller) AS poller, to_json(outbox) AS outbox, to_json(handlers) AS handlers, to_json(webhooks) AS webhooks,
      (SELECT to_json(broker) FROM broker LIMIT 1) AS broker, to_json(registrations) AS registrations,
      to_json(starts) AS starts
    FROM poller, outbox, handlers, webhooks, registrations, starts`,
};

/** The facts of the metrics: the backlog, and what `GET /status` does not have. */
export interface DeploymentFacts {
  readonly backlog: Backlog;
  readonly budget: Budget;
  /** Age of the oldest last successful read of a due session. Null if no session is due. */
  readonly oldestReadSeconds: number | null;
  /** Null if there is no token. */
  readonly tokenAgeSeconds: number | null;
  readonly operations: readonly { readonly operation: string; readonly health: string }[];
  readonly contractDrift: number;
}

// The last read of a session was at `claimed_at` or, while a batch contains the session, at `checked_at`. Reads due sessions only, by
// their index: a scan of a million sessions takes 0.6 s.
const READ_FACTS: Statement = {
  name: 'status.read_facts',
  text: `
    SELECT (
        SELECT extract(epoch FROM clock_timestamp() - min(CASE WHEN b.id IS NULL THEN p.claimed_at ELSE p.checked_at END))::float8
        FROM session_polls p LEFT JOIN poll_batches b ON b.id = p.batch_id WHERE p.due_at <= now()
      ) AS "oldestReadSeconds",
      (
        SELECT extract(epoch FROM clock_timestamp() - obtained_at)::float8
        FROM remote_tokens WHERE name = 'tenant' AND token_ciphertext IS NOT NULL
      ) AS "tokenAgeSeconds",
      (SELECT coalesce(json_agg(json_build_object('operation', operation, 'health', health)), '[]') FROM remote_operations) AS operations,
      (SELECT count(*)::int FROM remote_drift) AS "contractDrift"`,
};

@Injectable()
export class StatusStore {
  constructor(private readonly database: Database) {}

  async readBacklog(sql: Sql = this.database): Promise<Backlog> {
    const [row] = await sql.query<Backlog>(READ_BACKLOG);
    const { broker, ...backlog } = row!;
    // to_json returns times as text, while the response needs dates.
    const asDate = (time: Date | null) => time && new Date(time);
    const { publishedAt = null, failingSince = null } = broker ?? {};
    const times = { publishedAt: asDate(publishedAt), failingSince: asDate(failingSince) };
    return { ...backlog, broker: broker && { ...broker, ...times } };
  }

  /** Reads the facts of the metrics. Throws if a statement takes longer than `timeoutMs`, for example because a table is locked. */
  async readFacts(timeoutMs: number): Promise<DeploymentFacts> {
    return this.database.transaction(async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = ${timeoutMs}`);
      const backlog = await this.readBacklog(tx);
      const budget = await readBudget(tx);
      const [facts] = await tx.query<Omit<DeploymentFacts, 'backlog' | 'budget'>>(READ_FACTS);
      return { backlog, budget, ...facts! };
    });
  }

  /** Reads what all replicas together know about the remote service. */
  async readDeployment(): Promise<Deployment> {
    const [degraded, contractDrift] = await Promise.all([
      this.database.prisma.remoteOperation.findMany({
        select: { operation: true, health: true, since: true, reason: true },
        where: { health: { not: 'healthy' } },
        orderBy: { since: 'asc' },
      }),
      this.database.prisma.remoteDrift.count(),
    ]);
    // The CHECKs guarantee these types, but Prisma does not know them.
    return { degraded: degraded as unknown as Deployment['degraded'], contractDrift };
  }
}

function age(since: string): string {
  return `coalesce(greatest(0, round(extract(epoch FROM clock_timestamp() - ${since}), 3)), 0)`;
}
