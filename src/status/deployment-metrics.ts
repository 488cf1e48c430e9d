import { Injectable, Logger } from '@nestjs/common';
import { within } from '../platform/async/within.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { errorText } from '../platform/redaction/error-text.js';
import { StatusStore, type DeploymentFacts } from './status.store.js';

/** The database is not read again within this time. Shorter than usual intervals of scrapes, so that each scrape gets new figures. */
const REUSE_MS = 5_000;
/** Both are shorter than the usual timeout of a scrape, 10 s. */
const STATEMENT_TIMEOUT_MS = 2_000;
const WAIT_MS = 4_000;

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

interface Figure {
  readonly help: string;
  readonly labels?: readonly string[];
  /** Returns the value, or a sample for each combination of labels. Null: there is none. */
  readonly of: (facts: DeploymentFacts) => number | null | readonly Sample[];
}

const HEALTHS = ['healthy', 'degraded', 'credentials_rejected'];

const FIGURES: Readonly<Record<`pv_onboarding_deployment_${string}`, Figure>> = {
  pv_onboarding_deployment_watched_sessions: {
    help: 'Watched sessions',
    of: ({ backlog }) => backlog.poller.watched,
  },
  pv_onboarding_deployment_claimed_sessions: {
    help: 'Sessions that workers have claimed now',
    of: ({ backlog }) => backlog.poller.reading,
  },
  pv_onboarding_deployment_overdue_sessions: {
    help: 'Sessions that are due and not claimed',
    of: ({ backlog }) => backlog.poller.overdue,
  },
  pv_onboarding_deployment_lateness_seconds: {
    help: 'By how much the most overdue session is late; 0 if none is overdue',
    of: ({ backlog }) => backlog.poller.oldestOverdueSeconds,
  },
  pv_onboarding_deployment_oldest_read_age_seconds: {
    help: 'Age of the last successful read of the session that was read longest ago, of those that are due, being read, or planned again after a failure, by phase; of a sample if there are more than some 50,000 sessions',
    labels: ['phase'],
    of: ({ backlog }) =>
      backlog.poller.phases.map(({ phase, oldestReadSeconds }) => [{ phase }, oldestReadSeconds]),
  },
  pv_onboarding_deployment_median_read_age_seconds: {
    help: 'Median age of the last successful reads of the watched sessions, by phase',
    labels: ['phase'],
    of: ({ backlog }) =>
      backlog.poller.phases.map(({ phase, medianReadSeconds }) => [{ phase }, medianReadSeconds]),
  },
  pv_onboarding_deployment_replicas: {
    help: 'Processes that showed a sign of life within 5 seconds, by ROLE',
    labels: ['role'],
    of: ({ replicas }) =>
      ['api', 'worker', 'all'].map((role) => [
        { role },
        replicas.filter((each) => each.isAlive && each.role === role).length,
      ]),
  },
  pv_onboarding_deployment_worker_last_seen_timestamp_seconds: {
    help: 'When a process with ROLE worker or all last showed a sign of life; absent if none did within the last hour',
    of: ({ replicas }) =>
      replicas
        .filter(({ role }) => role !== 'api')
        .reduce<number | null>(
          (last, { lastSeenAt }) => Math.max(last ?? 0, lastSeenAt.getTime() / 1_000),
          null,
        ),
  },
  pv_onboarding_deployment_abandoned_batches: {
    help: 'Claims whose lease has expired and whose sessions no worker has taken over yet',
    of: ({ backlog }) => backlog.poller.abandonedBatches,
  },
  pv_onboarding_deployment_read_stretch: {
    help: 'By how much all intervals between reads are longer than planned; 1 while there is room',
    of: ({ budget }) => budget.stretch,
  },
  pv_onboarding_deployment_wanted_reads_per_second: {
    help: 'Reads per second that all watched sessions would take at stretch 1',
    of: ({ budget }) => budget.wantedPerSecond,
  },
  pv_onboarding_deployment_allowed_reads_per_second: {
    help: 'Reads per second to which the stretch leads; absent if nothing is known to limit them',
    of: ({ budget }) => budget.allowedPerSecond,
  },
  pv_onboarding_deployment_phase_lateness_seconds: {
    help: 'By how much the most overdue session of a phase is late; absent if none is overdue',
    labels: ['phase'],
    of: ({ backlog }) =>
      backlog.late.map(({ phase, oldestOverdueSeconds }) => [{ phase }, oldestOverdueSeconds]),
  },
  pv_onboarding_deployment_noticed_after_seconds: {
    help: 'How long after a change of a session in its first 10 minutes it was noticed, over the last hour; absent without changes',
    labels: ['quantile'],
    of: ({ budget: { noticed } }) =>
      noticed.p50Seconds === null || noticed.p95Seconds === null
        ? null
        : [
            [{ quantile: '0.5' }, noticed.p50Seconds],
            [{ quantile: '0.95' }, noticed.p95Seconds],
          ],
  },
  pv_onboarding_deployment_unsequenced_events: {
    help: 'Events without a sequence number',
    of: ({ backlog }) => backlog.outbox.unsequenced,
  },
  pv_onboarding_deployment_unsequenced_event_age_seconds: {
    help: 'Age of the oldest event without a sequence number; 0 if there is none',
    of: ({ backlog }) => backlog.outbox.oldestUnsequencedSeconds,
  },
  pv_onboarding_deployment_reader_pending: {
    help: 'Deliveries that a reader has not completed; for webhooks also events that are not yet offered to an endpoint, for the broker events that it has not confirmed. No broker sample without a broker',
    labels: ['reader'],
    of: ({ backlog: { handlers, webhooks, broker } }) => [
      [{ reader: 'handlers' }, handlers.undelivered],
      [{ reader: 'webhooks' }, webhooks.unread + webhooks.undelivered],
      ...(broker ? [[{ reader: 'broker' }, broker.unpublished] as const] : []),
    ],
  },
  pv_onboarding_deployment_reader_lag_seconds: {
    help: 'Age of the oldest delivery that a reader has not completed; 0 if there is none',
    labels: ['reader'],
    of: ({ backlog: { handlers, webhooks, broker } }) => [
      [{ reader: 'handlers' }, handlers.oldestUndeliveredSeconds],
      [{ reader: 'webhooks' }, webhooks.oldestUndeliveredSeconds],
      ...(broker ? [[{ reader: 'broker' }, broker.oldestUnpublishedSeconds] as const] : []),
    ],
  },
  pv_onboarding_deployment_webhook_endpoints: {
    help: 'Webhook endpoints: working, failing since their last attempt, or disabled automatically',
    labels: ['state'],
    of: ({ backlog: { webhooks } }) => [
      [{ state: 'working' }, webhooks.endpoints - webhooks.failingEndpoints],
      [{ state: 'failing' }, webhooks.failingEndpoints],
      [{ state: 'disabled' }, webhooks.disabledEndpoints],
    ],
  },
  pv_onboarding_deployment_registrations: {
    help: 'Registrations that are sent again automatically (pending) or wait for a person (uncertain)',
    labels: ['status'],
    of: ({ backlog: { registrations } }) => [
      [{ status: 'pending' }, registrations.pending],
      [{ status: 'uncertain' }, registrations.uncertain],
    ],
  },
  pv_onboarding_deployment_doubtful_sessions: {
    help: 'Open sessions that may need a person, by what is wrong',
    labels: ['reason'],
    of: ({ backlog: { sessions } }) => [
      [{ reason: 'unrecognised' }, sessions.unrecognised],
      [{ reason: 'lost' }, sessions.lost],
      [{ reason: 'all_inverters_missing' }, sessions.allInvertersMissing],
      [{ reason: 'some_inverters_missing' }, sessions.someInvertersMissing],
    ],
  },
  pv_onboarding_deployment_registration_age_seconds: {
    help: 'Age of the oldest such registration; 0 if there is none',
    labels: ['status'],
    of: ({ backlog: { registrations } }) => [
      [{ status: 'pending' }, registrations.oldestPendingSeconds],
      [{ status: 'uncertain' }, registrations.oldestUncertainSeconds],
    ],
  },
  pv_onboarding_deployment_abandoned_starts: {
    help: 'Starts whose lease has expired; a worker ends them within seconds',
    of: ({ backlog }) => backlog.starts.abandoned,
  },
  pv_onboarding_deployment_abandoned_start_age_seconds: {
    help: 'How long ago the first of these leases expired; 0 if there is none',
    of: ({ backlog }) => backlog.starts.oldestAbandonedSeconds,
  },
  pv_onboarding_deployment_orphans: {
    help: 'Sessions that the remote service may have started in the last 24 hours and whose id nobody knows',
    of: ({ backlog }) => backlog.starts.orphans,
  },
  pv_onboarding_deployment_remote_health: {
    help: '1 for the health of the remote service that the replicas agree on, 0 for the others, by operation',
    labels: ['operation', 'health'],
    of: ({ operations }) =>
      operations.flatMap(({ operation, health }) =>
        HEALTHS.map((each): Sample => [{ operation, health: each }, each === health ? 1 : 0]),
      ),
  },
  pv_onboarding_deployment_remote_wait_seconds: {
    help: 'The rest of the wait that the remote service requested (Retry-After); 0 if there is none, by operation',
    labels: ['operation'],
    of: ({ operations }) => operations.map(({ operation, waitSeconds }) => [{ operation }, waitSeconds]),
  },
  pv_onboarding_deployment_contract_drift: {
    help: 'Ways in which responses of the remote service differ from the interface description',
    of: ({ contractDrift }) => contractDrift,
  },
  pv_onboarding_deployment_token_age_seconds: {
    help: 'Age of the access token; absent if there is none',
    of: ({ tokenAgeSeconds }) => tokenAgeSeconds,
  },
};

/** Exposes the facts of the whole deployment, read from the database: every replica exposes the same figures. */
@Injectable()
export class DeploymentMetrics {
  private readonly logger = new Logger(DeploymentMetrics.name);
  /** Null if the database did not respond in time. */
  private facts: Promise<DeploymentFacts | null> = Promise.resolve(null);
  private isReading = false;
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
    for (const [name, { help, labels = [], of }] of Object.entries(FIGURES)) {
      metrics.gauge({
        name: name as keyof typeof FIGURES,
        help,
        labels,
        collect: async (gauge) => {
          const facts = await this.read();
          // Without figures, exposes none rather than old ones. `reset` would set a gauge without labels to 0. Does not throw, because that
          // would fail all other metrics too.
          if (labels.length === 0) gauge.remove();
          else gauge.reset();
          const samples = facts === null ? [] : of(facts);
          if (typeof samples === 'number') gauge.set(samples);
          else for (const [of, value] of samples ?? []) gauge.set(of, value);
        },
      });
    }
  }

  /** Returns the figures of at most `REUSE_MS` ago. A statement that still runs is not repeated. */
  private read(): Promise<DeploymentFacts | null> {
    const now = performance.now();
    if (!this.isReading && now >= this.readAgainAt) {
      this.isReading = true;
      this.readAgainAt = now + REUSE_MS;
      const reading = this.store.readFacts(STATEMENT_TIMEOUT_MS).finally(() => (this.isReading = false));
      const late = (): never => {
        throw new Error(`no response within ${WAIT_MS} ms`);
      };
      this.facts = within(WAIT_MS, reading, late).catch((error: unknown) => {
        this.logger.debug(`the figures of the deployment could not be read: ${errorText(error)}`);
        return null;
      });
    }
    return this.facts;
  }
}
