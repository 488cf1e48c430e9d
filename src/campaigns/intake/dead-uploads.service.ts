import { Injectable } from '@nestjs/common';
import { BackgroundTasks } from '../../platform/async/background-tasks.js';
import { Environment } from '../../platform/env/environment.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import { IntakeStore } from './intake.store.js';

const EVERY_MS = 60_000;

/** Deletes the uploads of processes that died during them. */
@Injectable()
export class DeadUploads extends BackgroundTasks {
  protected readonly tasks = [{ everyMs: EVERY_MS, run: () => this.store.deleteDead() }];

  constructor(
    private readonly store: IntakeStore,
    environment: Environment,
  ) {
    super(
      'uploads of dead processes could not be deleted',
      STOP_WITHIN_MS.deadUploads,
      environment.ROLE !== 'api',
    );
  }
}
