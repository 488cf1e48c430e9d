import { Injectable, Logger } from '@nestjs/common';
import { within } from '../platform/async/within.js';
import { Database } from '../platform/database/database.js';
import { findTableLocks } from '../platform/database/table-locks.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { errorText } from '../platform/redaction/error-text.js';
import { FIGURES } from './deployment-figures.js';
import { REASON_CODES, REASONS, type ReasonCode } from './reasons.js';
import { StatusService, type DeploymentStatus } from './status.service.js';

/** How long figures are reused. Shorter than the usual interval of scrapes, so that each scrape gets new figures. */
const REUSE_MS = 5_000;
/** How long a scrape waits. Shorter than the usual timeout of a scrape, 10 s. */
const WAIT_MS = 4_000;
/** How long a statement may take, so that the locked tables can be found within WAIT_MS. */
const STATEMENT_MS = 3_000;

interface Read {
  /** Null if the database did not respond in time, or the figures wait for a lock. */
  readonly status: DeploymentStatus | null;
  /** The reasons that are known to be present or absent. */
  readonly reasons: ReadonlyMap<ReasonCode, boolean>;
}

const NOTHING: Read = { status: null, reasons: new Map() };

/**
 * Exposes the facts and the reasons of the whole deployment. Every process reads them from the database, so they outlast any process that
 * ends. `held_back_…` reasons are those of the process itself, hence the maximum over the processes.
 */
@Injectable()
export class DeploymentMetrics {
  private readonly logger = new Logger(DeploymentMetrics.name);
  private latest: Promise<Read> = Promise.resolve(NOTHING);
  private readAgainAt = -Infinity;

  constructor(
    metrics: Metrics,
    private readonly status: StatusService,
    private readonly database: Database,
  ) {
    metrics.gauge({
      name: 'pv_onboarding_deployment_collector_up',
      help: '1 if this process could read the figures of the deployment from the database; 0 if not, and then it exposes none of them',
      collect: async (gauge) => gauge.set((await this.read()).status === null ? 0 : 1),
    });
    metrics.gauge({
      name: 'pv_onboarding_deployment_reason',
      help: '1 while the reason is in GET /status, else 0, by its code; absent if that is unknown',
      labels: ['code', 'severity'],
      collect: async (gauge) => {
        const { reasons } = await this.read();
        gauge.reset();
        for (const [code, isPresent] of reasons)
          gauge.labels(code, REASONS[code].severity).set(isPresent ? 1 : 0);
      },
    });
    for (const name of new Set(FIGURES.map((figure) => figure.name))) {
      const figures = FIGURES.filter((figure) => figure.name === name);
      const { labels } = figures[0]!;
      metrics.gauge({
        name: `pv_onboarding_deployment_${name}`,
        help: figures.map(({ help }) => help).join('; '),
        labels,
        collect: async (gauge) => {
          const { status } = await this.read();
          // Exposes no figures rather than old ones. `reset` would set a gauge without labels to 0. Does not throw, because an error would
          // fail all other metrics too.
          if (labels.length === 0) gauge.remove();
          else gauge.reset();
          for (const [values, value] of status === null ? [] : figures.flatMap(({ of }) => of(status)))
            if (value !== null)
              gauge.labels(...values).inc(value instanceof Date ? value.getTime() / 1_000 : value);
        },
      });
    }
  }

  /** Returns figures at most REUSE_MS old. Does not start a read while one is running. */
  private read(): Promise<Read> {
    if (performance.now() >= this.readAgainAt) {
      this.readAgainAt = Infinity;
      const read = this.readNow();
      this.latest = within(WAIT_MS, read, () => {
        this.report(`no response within ${WAIT_MS} ms`);
        return NOTHING;
      });
      // Keeps the figures of a late read for scrapes within REUSE_MS, such as those of a second Prometheus.
      void read.then(() => {
        this.latest = read;
        this.readAgainAt = performance.now() + REUSE_MS;
      });
    }
    return this.latest;
  }

  private async readNow(): Promise<Read> {
    try {
      const status = await this.status.read(STATEMENT_MS);
      const present = new Set(status.reasons.map(({ code }) => code));
      return { status, reasons: new Map(REASON_CODES.map((code) => [code, present.has(code)])) };
    } catch (error) {
      this.report(errorText(error));
      const locks = await findTableLocks(this.database).catch(() => []);
      return { status: null, reasons: new Map(locks.length > 0 ? [['tables_locked', true]] : []) };
    }
  }

  private report(reason: string): void {
    this.logger.debug(`the figures of the deployment could not be read: ${reason}`);
  }
}
