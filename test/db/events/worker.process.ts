import { Injectable } from '@nestjs/common';
import type { DomainEvent } from '../../../src/events/catalogue.rules.js';
import { OnEvent } from '../../../src/handlers/on-event.js';
import { Database } from '../../../src/platform/database/database.js';
import { startWorker } from './fixture.js';

/** Inserts a row per event. At the marker KILL_AT, kills the process before the delivery is deleted. */
@Injectable()
class Recorder {
  constructor(private readonly database: Database) {}

  @OnEvent('session.online')
  async record({ data }: DomainEvent<'session.online'>): Promise<void> {
    await this.database.query('INSERT INTO effects (marker) VALUES ($1)', [data.rule]);
    if (data.rule === process.env.KILL_AT) process.kill(process.pid, 'SIGKILL');
  }
}

const worker = await startWorker(process.env.DATABASE_URL ?? '', [Recorder]);
worker.enableShutdownHooks();
process.send?.({ type: 'ready', url: '' });
