import { Injectable, Logger } from '@nestjs/common';
import { within } from '../platform/async/within.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { errorText } from '../platform/redaction/error-text.js';
import { FIGURES } from './deployment-figures.js';
import { StatusStore, type DeploymentFacts } from './status.store.js';

/** How long figures are reused. Shorter than the usual interval of scrapes, so that each scrape gets new figures. */
const REUSE_MS = 5_000;
/** How long a scrape waits, and how long a statement may take. Shorter than the usual timeout of a scrape, 10 s. */
const WAIT_MS = 4_000;

/** Exposes the facts of the whole deployment from the database, so every replica exposes the same figures. */
@Injectable()
export class DeploymentMetrics {
  private readonly logger = new Logger(DeploymentMetrics.name);
  /** Null if the database did not respond in time, or a table is locked. */
  private facts: Promise<DeploymentFacts | null> = Promise.resolve(null);
  private readAgainAt = -Infinity;

  constructor(
    metrics: Metrics,
    private readonly store: StatusStore,
  ) {
    metrics.gauge({
      name: 'pv_onboarding_deployment_collector_up',
      help: '1 if this process could read the figures of the deployment from the database; 0 if not, and then it exposes none of them',
      collect: async (gauge) => gauge.set((await this.read()) === null ? 0 : 1),
    });
    for (const name of new Set(FIGURES.map((figure) => figure.name))) {
      const figures = FIGURES.filter((figure) => figure.name === name);
      const { labels } = figures[0]!;
      metrics.gauge({
        name: `pv_onboarding_deployment_${name}`,
        help: figures.map(({ help }) => help).join('; '),
        labels,
        collect: async (gauge) => {
          const facts = await this.read();
          // Exposes no figures rather than old ones. `reset` would set a gauge without labels to 0. Does not throw, because an error would
          // fail all other metrics too.
          if (labels.length === 0) gauge.remove();
          else gauge.reset();
          for (const [values, value] of facts === null ? [] : figures.flatMap(({ of }) => of(facts)))
            if (value !== null)
              gauge.labels(...values).inc(value instanceof Date ? value.getTime() / 1_000 : value);
        },
      });
    }
  }

  /** Returns figures at most REUSE_MS old. Does not start a read while one is running. */
  private read(): Promise<DeploymentFacts | null> {
    if (performance.now() >= this.readAgainAt) {
      this.readAgainAt = Infinity;
      const read = this.store.readFacts(WAIT_MS).then(
        (facts) => (facts.poller === null ? this.report('session_polls or poll_batches is locked') : facts),
        (error: unknown) => this.report(errorText(error)),
      );
      this.facts = within(WAIT_MS, read, () => this.report(`no response within ${WAIT_MS} ms`));
      // Keeps the figures of a late read for scrapes within REUSE_MS, such as those of a second Prometheus.
      void read.then(() => {
        this.facts = read;
        this.readAgainAt = performance.now() + REUSE_MS;
      });
    }
    return this.facts;
  }

  private report(reason: string): null {
    this.logger.debug(`the figures of the deployment could not be read: ${reason}`);
    return null;
  }
}
