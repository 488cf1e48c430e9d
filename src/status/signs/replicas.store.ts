import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { msFromNow } from '../../platform/database/timestamps.js';
import { REPLICA_NAME } from '../../platform/build.js';
import type { Environment } from '../../platform/env/environment.js';
import type { Signs } from '../replica.view.js';

// Deletes the rows of replicas that stopped or vanished over an hour ago. `latest` is the time of the heartbeats before this one.
const BEAT_REPLICA = `
  WITH gone AS (
    DELETE FROM remote_replicas WHERE id <> $1 AND expires_at < clock_timestamp() - interval '1 hour'
  ), latest AS (SELECT max(seen_at) AS at FROM remote_replicas)
  INSERT INTO remote_replicas AS me
    (id, name, expires_at, role, reads_per_second, paced_since, signs, clock_offset_seconds)
  VALUES ($1, $2, ${msFromNow('$3')}, $4, $5, CASE WHEN $6::boolean THEN clock_timestamp() END, $7::jsonb,
    $8::float8 / 1000 - extract(epoch FROM clock_timestamp()))
  ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at, seen_at = clock_timestamp(),
    reads_per_second = excluded.reads_per_second,
    paced_since = CASE WHEN $6::boolean THEN coalesce(me.paced_since, clock_timestamp()) END,
    signs = excluded.signs, clock_offset_seconds = excluded.clock_offset_seconds
  RETURNING 1000 * extract(epoch FROM (SELECT at FROM latest) - clock_timestamp())::float8 AS "setBackMs"`;

/** The columns with the time at which something is done next, or until which it is left alone. */
const FIND_PLANS = `
  SELECT format('UPDATE %1$I SET %2$I = %2$I - $1::float8 * interval ''1 ms''
                 WHERE %2$I > clock_timestamp() + $1::float8 / 2 * interval ''1 ms'' AND %2$I < ''infinity''', table_name, column_name) AS text
  FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
  WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
    AND column_name ~ '^(.+_)?(due_at|look_at|look_again_at|attempt_at|measure_after|(lease|quiet|open|trouble)_until)$'`;

/** Deletes heartbeats of the time that the clock had shown. Their replicas have ended, or write the next one soon. */
const DELETE_AHEAD = `DELETE FROM remote_replicas WHERE seen_at > clock_timestamp()`;

/** Keeps the row, so that the status distinguishes a stopped process from a vanished one. */
const LEAVE = `
  UPDATE remote_replicas SET stopped_at = clock_timestamp(), expires_at = clock_timestamp() WHERE id = $1`;

/** The heartbeat of a replica. `isPaced`: its calls wait for SCS_MAX_REQUESTS_PER_SECOND. */
interface SignOfLife {
  readonly role: Environment['ROLE'];
  readonly readsPerSecond: number;
  readonly isPaced: boolean;
  readonly signs: Signs;
}

/** Stores which replicas are alive. */
@Injectable()
export class ReplicasStore {
  private readonly replicaId = randomUUID();

  constructor(private readonly database: Database) {}

  /** Returns by how much the clock of the database has been set back since the latest heartbeat of all replicas. Negative: it was not. */
  async beat(lifeMs: number, sign: SignOfLife): Promise<number> {
    const { role, readsPerSecond, isPaced, signs } = sign;
    const figures = [role, readsPerSecond, isPaced, JSON.stringify(signs), Date.now()];
    const values = [this.replicaId, REPLICA_NAME, lifeMs, ...figures];
    const [row] = await this.database.queryAside<{ setBackMs: number | null }>(BEAT_REPLICA, values);
    return row!.setBackMs ?? 0;
  }

  /**
   * Makes what was planned by the clock before it was set back due earlier by as much. Otherwise it would wait until the clock shows that
   * time again. What else was planned for later may be done too early, which does no harm: all work checks its conditions again.
   */
  async bringForward(setBackMs: number): Promise<void> {
    // One statement for each column, so that each holds its locks briefly. Repeating them changes little: most plans are near by then.
    for (const { text } of await this.database.query<{ text: string }>(FIND_PLANS))
      await this.database.query(text, [setBackMs]);
    await this.database.query(DELETE_AHEAD);
  }

  async leave(): Promise<void> {
    await this.database.query(LEAVE, [this.replicaId]);
  }
}
