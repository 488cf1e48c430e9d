import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
import { BackgroundTasks, task } from '../platform/tasks/background-tasks.js';
import { updateBrandOutages } from './brands.store.js';

const FIND_EVERY_MS = 10_000;

/** Finds the brands whose sessions can no longer be read, while those of others are. */
@Injectable()
export class BrandOutages extends BackgroundTasks {
  protected readonly tasks = [
    task({
      name: 'brands.find_outages',
      everyMs: FIND_EVERY_MS,
      once: 'deployment',
      run: () => this.find(),
    }),
  ];

  constructor(
    private readonly database: Database,
    private readonly environment: Environment,
  ) {
    super('outages of brands could not be found', environment.ROLE !== 'api');
  }

  async find(): Promise<void> {
    await updateBrandOutages(this.database, this.environment.POLL_MAX_INTERVAL_MS);
  }
}
