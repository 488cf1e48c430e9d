import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { RecentRequests } from '../../platform/metrics/recent-requests.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { Loop } from '../../platform/async/loop.js';
import { within } from '../../platform/async/within.js';
import { readBuild } from '../../platform/build.js';
import { Database } from '../../platform/database/database.js';
import { watchedFiles } from '../../platform/http-client/tls-files.js';
import { Environment } from '../../platform/env/environment.js';
import { RateMeter } from '../../platform/rate/rate-meter.js';
import { stopsWithin } from '../../platform/shutdown/limits.js';
import { OPERATION_CLASSES, type OperationClass } from '../../remote/outcome.rules.js';
import { RecentCalls } from './recent-calls.js';
import { addDuration, areSlow, countSlow, type CallDuration } from './slow-calls.rules.js';
import { Remote } from '../../remote/remote.service.js';
import { ReplicasStore } from './replicas.store.js';

const STOP_WITHIN_MS = stopsWithin(1_000);
const BEAT_EVERY_MS = 2_000;
/** A replica counts as dead this long after its last heartbeat. */
const LIFE_MS = 5_000;
const READS_PERIOD_MS = 10_000;
const UNCONFIRMED = 'PostgreSQL has not confirmed it';

/** Writes the heartbeat of this replica, with its figures, for the other replicas and the status. */
@Injectable()
export class SignsOfLife implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(SignsOfLife.name);
  private readonly durations = new Map<OperationClass, readonly CallDuration[]>();
  private readonly recentCalls = new Map(OPERATION_CLASSES.map((each) => [each, new RecentCalls()]));
  private readonly certificates = watchedFiles(this.environment);
  private readonly reads = new RateMeter(READS_PERIOD_MS);
  /** When this process sent its last sign of life that PostgreSQL has confirmed, by performance.now(). */
  private givenAt = performance.now();
  private error = UNCONFIRMED;
  private readonly loop = new Loop({
    step: () => this.beat(),
    onError: (error, failures) => {
      this.error = errorText(error);
      if (failures === 1) this.logger.warn(`could not give a sign of life: ${errorText(error)}`);
      return BEAT_EVERY_MS;
    },
  });

  constructor(
    private readonly remote: Remote,
    private readonly store: ReplicasStore,
    private readonly database: Database,
    private readonly requests: RecentRequests,
    private readonly environment: Environment,
  ) {
    remote.onExchange = (operation, { result, fault }, seconds) => {
      // A call that we cancelled did not fail.
      if (result !== 'unknown')
        this.note(operation, result === 'succeeded' && fault === undefined ? seconds : null);
    };
  }

  onModuleInit(): void {
    this.loop.start();
  }

  /** Marks this replica as stopped, because all its calls have ended. Waits only a limited time for the database. */
  async onApplicationShutdown(): Promise<void> {
    const left = this.loop.stop().then(() => this.store.leave());
    await within(
      STOP_WITHIN_MS,
      left.catch(() => {}),
    );
  }

  /** Records a call. `seconds`: the duration of a successful call; null if the call failed. */
  note(operation: OperationClass, seconds: number | null): void {
    this.recentCalls.get(operation)!.add(seconds, performance.now());
    if (seconds === null) return;
    if (operation === 'read_session') this.reads.add();
    const call = { endedAt: performance.now(), seconds };
    this.durations.set(operation, addDuration(this.durations.get(operation) ?? [], call));
  }

  /** Why this process counts as dead, although it runs. Null if it counts as alive. Then nobody knows about the others either. */
  get fault(): string | null {
    return performance.now() - this.givenAt > LIFE_MS ? this.error : null;
  }

  private async beat(): Promise<number> {
    const now = performance.now();
    const latestCalls = [...this.durations].map(([operation, latest]) => ({
      operation,
      ...countSlow(latest, now),
    }));
    const waitingForConnectionsSeconds = this.database.use.waitingSeconds();
    await this.store.beat(LIFE_MS, {
      role: this.environment.ROLE,
      readsPerSecond: Math.round(this.reads.perSecond * 1_000) / 1_000,
      isPaced: this.remote.budget.isPaced,
      signs: {
        ...(await this.requests.count()),
        waitingForConnectionsSeconds,
        longestStatement: waitingForConnectionsSeconds > 0 ? this.database.use.longest() : null,
        hasNoSpace: this.database.hasNoSpace(),
        proxyFault: this.remote.proxyFault,
        certificates: this.certificates.flatMap((files) => files.signs(new Date())),
        slow: latestCalls.filter(areSlow).map(({ operation }) => operation),
        latestCalls,
        recentCalls: Object.fromEntries(
          [...this.recentCalls].map(([operation, calls]) => [operation, calls.count(now)]),
        ),
        ...(await readBuild()),
        remoteService: this.environment.SCS_BASE_URL,
      },
    });
    this.givenAt = now;
    this.error = UNCONFIRMED;
    return BEAT_EVERY_MS;
  }
}
