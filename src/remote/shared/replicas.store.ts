import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, prepared } from '../../platform/database/database.js';
import { msFromNow, msUntil } from '../../platform/database/timestamps.js';
import { type Build, REPLICA_NAME } from '../../platform/build.js';
import type { Environment } from '../../platform/env/environment.js';
import type { CertificateSign } from '../../platform/http-client/tls-files.js';
import type { OperationClass } from '../outcome.rules.js';
import type { CallCounts } from '../pace/recent-calls.js';
import type { LatestCalls } from '../pace/slow-calls.rules.js';
import { BURST_MS } from '../pace/request-budget.js';

// Deletes the rows of replicas that stopped or vanished over an hour ago.
const BEAT_REPLICA = `
  WITH gone AS (
    DELETE FROM remote_replicas WHERE id <> $1 AND expires_at < clock_timestamp() - interval '1 hour'
  )
  INSERT INTO remote_replicas AS me
    (id, name, expires_at, role, reads_per_second, paced_since, signs, clock_offset_seconds)
  VALUES ($1, $2, ${msFromNow('$3')}, $4, $5, CASE WHEN $6::boolean THEN clock_timestamp() END, $7::jsonb,
    $8::float8 / 1000 - extract(epoch FROM clock_timestamp()))
  ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at, seen_at = clock_timestamp(),
    reads_per_second = excluded.reads_per_second,
    paced_since = CASE WHEN $6::boolean THEN coalesce(me.paced_since, clock_timestamp()) END,
    signs = excluded.signs, clock_offset_seconds = excluded.clock_offset_seconds`;

/** Keeps the row, so that the status distinguishes a stopped process from a vanished one. */
const LEAVE = `
  UPDATE remote_replicas SET stopped_at = clock_timestamp(), expires_at = clock_timestamp() WHERE id = $1`;

/** Draws the tokens of the next $1 ms. Executed several times a second while requests wait, hence a prepared statement. */
// The period begins at most a minute ahead, in case the clock was set back.
const DRAW_TOKENS = prepared('remote.draw_tokens')`
    UPDATE request_tokens
       SET drawn_until = least(greatest(drawn_until, ${msFromNow(`-${BURST_MS}`)}), clock_timestamp() + interval '1 minute')
                         + $1::float8 * interval '1 millisecond'
    RETURNING ${msUntil('drawn_until')} - $1::float8 AS "inMs"`;

/** The figures that a replica reports for the status, by their names in the status. */
export interface Signs extends Build {
  readonly requests: number;
  readonly failedRequests: number;
  readonly refusedRequests: number;
  readonly waitingForConnectionsSeconds: number;
  readonly longestStatement: string | null;
  readonly hasNoSpace: boolean;
  readonly proxyFault: string | null;
  readonly certificates: readonly CertificateSign[];
  /** The operations most of whose latest calls were slow. */
  readonly slow: OperationClass[];
  readonly latestCalls: readonly (LatestCalls & { readonly operation: OperationClass })[];
  readonly recentCalls: Readonly<Partial<Record<OperationClass, CallCounts>>>;
}

/** The heartbeat of a replica. `isPaced`: its calls wait for SCS_MAX_REQUESTS_PER_SECOND. */
interface SignOfLife {
  readonly role: Environment['ROLE'];
  readonly readsPerSecond: number;
  readonly isPaced: boolean;
  readonly signs: Signs;
}

/** Stores which replicas are alive, and the request tokens that they share. */
@Injectable()
export class ReplicasStore {
  private readonly replicaId = randomUUID();

  constructor(private readonly database: Database) {}

  async beat(lifeMs: number, sign: SignOfLife): Promise<void> {
    const { role, readsPerSecond, isPaced, signs } = sign;
    const figures = [role, readsPerSecond, isPaced, JSON.stringify(signs), Date.now()];
    await this.database.queryAside(BEAT_REPLICA, [this.replicaId, REPLICA_NAME, lifeMs, ...figures]);
  }

  async leave(): Promise<void> {
    await this.database.query(LEAVE, [this.replicaId]);
  }

  /** Draws the tokens of a period of `ms`. Returns in how many milliseconds the period begins. */
  async drawTokens(ms: number): Promise<number> {
    const [drawn] = await this.database.queryAside<{ inMs: number }>(DRAW_TOKENS, [ms]);
    return drawn!.inMs;
  }
}
