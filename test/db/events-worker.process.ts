import { Injectable } from '@nestjs/common';
import type { DomainEvent } from '../../src/events/domain-event.js';
import { OnEvent } from '../../src/events/handlers/on-event.js';
import { Database } from '../../src/platform/database/database.js';
import { startWorker } from './events-fixture.js';

/** Has a lasting effect per event and, when told to, dies before the delivery is struck off. */
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
