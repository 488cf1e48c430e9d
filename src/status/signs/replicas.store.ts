import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { msFromNow } from '../../platform/database/timestamps.js';
import { REPLICA_NAME } from '../../platform/build.js';
import type { Environment } from '../../platform/env/environment.js';
import type { Signs } from '../replica.view.js';

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

  async beat(lifeMs: number, sign: SignOfLife): Promise<void> {
    const { role, readsPerSecond, isPaced, signs } = sign;
    const figures = [role, readsPerSecond, isPaced, JSON.stringify(signs), Date.now()];
    await this.database.queryAside(BEAT_REPLICA, [this.replicaId, REPLICA_NAME, lifeMs, ...figures]);
  }

  async leave(): Promise<void> {
    await this.database.query(LEAVE, [this.replicaId]);
  }
}
