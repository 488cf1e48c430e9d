import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Beat } from '../pace/rate-share.js';
import { BEAT, LEAVE } from './replicas.sql.js';

/** The replicas that share a ceiling of requests per second, known by their heartbeats. */
@Injectable()
export class ReplicasStore {
  private readonly id = randomUUID();
  private readonly name = `${hostname()}:${process.pid}`;

  constructor(private readonly database: Database) {}

  /** Extends this replica's life by `lifeMs`; returns the count of live replicas. */
  async beat(lifeMs: number): Promise<Beat> {
    const [beat] = await this.database.query<Beat>(BEAT, [this.id, this.name, lifeMs]);
    return beat!;
  }

  async leave(): Promise<void> {
    await this.database.query(LEAVE, [this.id]);
  }
}
