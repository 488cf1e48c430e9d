import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Loop } from '../../platform/async/loop.js';
import { readBuild } from '../../platform/build.js';
import { nameOf, otherReleasesOf } from './releases.rules.js';
import { StatusStore } from './status.store.js';

const EVERY_MS = 60_000;

/** Warns every minute while a process of another release runs on the same database. */
@Injectable()
export class ReleaseWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Releases');
  private readonly loop = new Loop({
    step: async () => {
      await this.look();
      return EVERY_MS;
    },
    // Other parts of the process report that the database fails.
    onError: () => EVERY_MS,
  });

  constructor(private readonly store: StatusStore) {}

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.loop.stop();
  }

  private async look(): Promise<void> {
    const build = await readBuild();
    const others = otherReleasesOf(await this.store.listReplicas(), build);
    if (others.length === 0) return;
    const names = others.map((each) => `${each.name} runs ${nameOf(each)}`).join(', ');
    this.logger.warn(`another release runs beside ${nameOf(build)}: ${names}`);
  }
}
