import {
  count,
  field,
  flag,
  instant,
  listOf,
  nullable,
  oneOf,
  text,
  view,
  schemaOf,
} from '../../platform/openapi/schema-of.js';
import { PHASES } from '../../onboarding/rules/schedule.rules.js';
import { PROBE_OUTCOMES } from '../../auth/credentials-probe.service.js';
import { ReplicaView } from './replica.view.js';
import { REASON_CODES } from './reason-codes.rules.js';
import { OPERATION_CLASSES } from '../../remote/outcome.rules.js';

export const WORST_LAST = ['unknown', 'healthy', 'degraded', 'unavailable'] as const;

const number = (description: string) => field<number>({ type: 'number' }, description);
const age = () => number('In seconds; 0 if nothing waits');

/** Describes a field that is an object. `name`: the name of its schema in the API description. */
const part = <Fields extends Parameters<typeof schemaOf>[1]>(
  name: string,
  description: string | null,
  fields: Fields,
) => view(schemaOf(name, fields), description ?? undefined);

const OperationView = schemaOf('OperationView', {
  health: oneOf(WORST_LAST, '`unavailable` while calls are blocked'),
  breaker: oneOf(['closed', 'open', 'half_open'] as const),
  heldBackBy: nullable(
    oneOf(
      ['remote_service', 'breaker', 'ceiling'] as const,
      '`remote_service`: it asked to wait (Retry-After). `breaker`: it fails. `ceiling`: calls wait for our SCS_MAX_REQUESTS_PER_SECOND',
    ),
  ),
  retryAfterMs: nullable(count('How long calls remain blocked; null if they are not')),
  requestedWaitMs: nullable(count('The wait that the remote service asked for; null if none lasts')),
  lastSuccessAt: nullable(instant()),
  lastErrorAt: nullable(instant()),
  lastError: nullable(text()),
});

const DegradedOperationView = schemaOf('DegradedOperationView', {
  operation: oneOf(OPERATION_CLASSES),
  health: oneOf(['degraded', 'credentials_rejected'] as const),
  since: instant(),
  reason: text(),
});

export const CredentialsProbeView = schemaOf('CredentialsProbeView', {
  outcome: oneOf(
    PROBE_OUTCOMES,
    '`valid`: the token is in order, nothing was sent. `token_issued`: the remote service issued a token; if it had refused calls, the next call tests it, and `token.state` shows the result. `refused`: it refused the token request; it does not say whether for the API key or for the client. `no_token`: no usable response. `too_soon`: another token request runs, or the last probe was less than 5 seconds ago; nothing was sent',
  ),
  lastError: nullable(
    text('The last failure of the token, redacted; null if nothing has failed since the last success'),
  ),
  nextAttemptAt: nullable(instant('When the next attempt is due if nobody probes; null if none waits')),
});

const ReasonView = schemaOf('StatusReasonView', {
  code: oneOf(REASON_CODES),
  detail: text('For people'),
});

const PhaseView = schemaOf('PollerPhaseView', {
  phase: oneOf(PHASES),
  oldestReadSeconds: number(
    'Age of the last successful read of the session that was read longest ago, of those that are due, being read, or planned again after a failure; 0 if there is none',
  ),
  medianReadSeconds: number('The median age of the last successful read, of all sessions'),
});

const LatePhaseView = schemaOf('LatePhaseView', {
  phase: oneOf(PHASES),
  overdue: count('Sessions that are due but not being read yet'),
  oldestOverdueSeconds: number('By how much the most overdue session is late'),
});

const BudgetView = schemaOf('BudgetView', {
  stretch: number('By how much all intervals between reads are longer than planned; 1 while there is room'),
  wantedPerSecond: number('Reads per second that all watched sessions would take at stretch 1'),
  allowedPerSecond: nullable(
    number('Reads per second to which the stretch leads; null if nothing is known to limit them'),
  ),
  isShort: flag('Whether `remote.budget_short` was announced and its end was not'),
  late: listOf(
    LatePhaseView,
    'By phase; phases without overdue sessions are absent. Empty if `poller` is null',
  ),
  noticed: view(
    schemaOf('NoticedView', {
      changes: count('Changes that are counted, at most 2,000'),
      p50Seconds: nullable(number('Median; null without changes')),
      p95Seconds: nullable(number('95th percentile; null without changes')),
    }),
    'How long after a change of a session in its first 10 minutes it was noticed, by the clock of the remote service, over the last hour',
  ),
});

export const StatusView = schemaOf('StatusView', {
  health: oneOf(['healthy', 'degraded'] as const, '`degraded` if there are `reasons`'),
  reasons: listOf(ReasonView, 'What is wrong, the worst first; empty while all is well'),
  build: part('BuildView', 'What the responding replica runs', {
    version: text(),
    commit: nullable(text('null if it is unknown')),
    newestMigration: nullable(text('The newest migration that it has')),
  }),
  replicas: listOf(
    ReplicaView,
    'The running processes, and those that stopped or vanished within the last hour',
  ),
  tableLocks: field<readonly string[]>(
    { type: [String] },
    'Who locks our tables in the database against writing; empty if nobody does',
  ),
  remote: part('RemoteView', 'The remote service as the responding replica sees it', {
    health: oneOf(
      WORST_LAST,
      'The worst health of its operations; `unavailable` while it refuses the credentials (`token.state` is `rejected`)',
    ),
    limit: part('LimitView', null, {
      current: count(
        'Calls that may be in flight at once now. Falls when the service refuses or times out; does not grow while fewer calls are in flight, so it stays low under our own pacing',
      ),
      ceiling: count('SCS_MAX_CONCURRENCY'),
    }),
    rate: nullable(
      part('RateView', 'null without SCS_MAX_REQUESTS_PER_SECOND', {
        ceilingPerSecond: number('SCS_MAX_REQUESTS_PER_SECOND, of the whole deployment'),
        sharePerSecond: number('The share of the responding replica'),
        isHoldingBack: flag('Whether calls wait for it now'),
      }),
    ),
    inFlight: count(),
    queued: part('QueueView', 'Calls that wait for their turn', {
      foreground: count('Calls that a caller waits for'),
      background: count(),
    }),
    operations: part('OperationsView', 'Each operation has its own circuit breaker', {
      token: view(OperationView),
      register_user: view(OperationView),
      start_session: view(OperationView),
      read_session: view(OperationView),
    }),
    deployment: part('DeploymentView', 'The state shared by all replicas', {
      degraded: listOf(DegradedOperationView, 'Announced by an event when it begins'),
      contractDrift: count(
        'The number of ways in which its responses differ from the interface description (admin.contract_drift)',
      ),
    }),
  }),
  token: part('TokenView', 'The access token of the whole deployment, without its value', {
    state: oneOf(['none', 'valid', 'expired', 'on_trial', 'rejected'] as const),
    generation: count('Counts the tokens obtained'),
    ageSeconds: nullable(count()),
    obtainedAt: nullable(instant()),
    renewAt: nullable(instant()),
    expiresAt: nullable(instant()),
    expiresInRaw: nullable(text('`expires_in` as received from the service')),
    tokenType: nullable(text()),
    rejectedAt: nullable(instant()),
    failures: count(),
    lastError: nullable(text()),
    nextAttemptAt: nullable(instant()),
  }),
  poller: nullable(
    part('PollerView', 'null while the table of the schedule is locked: see `tableLocks`', {
      watched: count('Watched sessions'),
      overdue: count('Sessions that are due but not being read yet'),
      oldestOverdueSeconds: age(),
      reading: count('Sessions that workers have claimed now'),
      batches: count(),
      readsPerSecond: number('Successful reads of all live replicas, in the last 10 seconds'),
      phases: listOf(PhaseView, 'Of a random sample if there are more than some 50,000 watched sessions'),
      abandonedBatches: count('Batches whose lease has expired; another worker takes them over'),
    }),
  ),
  budget: view(BudgetView, 'The reads that the whole deployment wants and may do; see `remote.budget_short`'),
  activity: part('ActivityView', 'What happens, compared with the same hours of the last 7 days', {
    lastChangeAt: nullable(instant('When a session last changed to awaiting_installation or online')),
    unchangedSeconds: age(),
    usualChanges: nullable(
      count(
        'The least number of such changes within `unchangedSeconds` at the same hours of the last 7 days, at most 1,000; null if it is under 15 minutes, or there are less than 3 days',
      ),
    ),
    startsPerHour: count('Sessions that were started within the last hour, at most 1,000'),
    usualStartsPerHour: nullable(
      count(
        'The least number of these at the same hour of the last 7 days; null if there are less than 3 days',
      ),
    ),
  }),
  oldestTransaction: nullable(
    part(
      'OldestTransactionView',
      'The oldest open transaction of the database that the service may see; a pg_dump only after 6 hours',
      {
        seconds: number('Its age'),
        process: text('Whose it is, for people'),
      },
    ),
  ),
  outbox: part('OutboxView', null, {
    unsequenced: count('Events that have no sequence number yet'),
    oldestUnsequencedSeconds: age(),
    readers: part(
      'ReadersView',
      'Each reader has its own place, so none waits for another. The feed stores no place; its readers do',
      {
        handlers: part('HandlersView', 'In-process handlers', {
          undelivered: count('Deliveries of events that in-process handlers have not completed yet'),
          failing: count('Deliveries among these that have failed at least once'),
          oldestUndeliveredSeconds: age(),
        }),
        webhooks: part('WebhooksView', null, {
          endpoints: count('Enabled endpoints'),
          failingEndpoints: count('Enabled endpoints whose last attempt failed'),
          oldestFailingSeconds: number(
            'How long the enabled endpoint that has failed longest has been failing, in seconds; 0 if none fails',
          ),
          disabledEndpoints: count(
            'Endpoints disabled automatically: they returned 410 or have been failing for days',
          ),
          unread: count(
            'Events not yet offered to the enabled endpoint that is furthest behind, subscribed or not. A worker offers them within a second',
          ),
          undelivered: count('Deliveries to enabled endpoints that wait for their first attempt or a retry'),
          failing: count('Deliveries among these that have failed at least once'),
          oldestUndeliveredSeconds: number(
            'Age of the oldest event that is unread or undelivered, in seconds; 0 if nothing waits',
          ),
        }),
        streams: part(
          'StreamsView',
          'Each reader of a stream stores its own place, so streams have no backlog',
          { open: count('Streams open at the responding replica') },
        ),
        broker: nullable(
          part('BrokerView', 'null if there is no broker', {
            kind: field<string>({ enum: ['nats'] }),
            isPublishing: flag('Whether a process has the lease for publishing now'),
            unpublished: count('Events that the broker has not confirmed yet'),
            oldestUnpublishedSeconds: age(),
            publishedAt: nullable(instant('When the broker last confirmed an event')),
            failingSince: nullable(
              instant('Since when the broker has accepted no event; null while it accepts them'),
            ),
            failingSeconds: number('For how long it has accepted none; 0 while it accepts them'),
            lastError: nullable(text()),
            warnings: field<readonly string[]>(
              { type: [String] },
              'Settings of the broker by which it may lose events, as of the last connection to it; empty if there are none',
            ),
          }),
        ),
      },
    ),
  }),
  sessions: part('DoubtfulSessionsView', 'Open sessions that may need a person; admin.stuck lists them', {
    unrecognised: count('Sessions with flags that the interface does not describe'),
    lost: count('Sessions that the remote service no longer knows'),
    allInvertersMissing: count('Sessions that are online and no longer list any of their inverters'),
    someInvertersMissing: count('Sessions that are online and no longer list some of their inverters'),
    sharedInverters: count('Inverters of the last 7 days that are listed for 5 or more customers at once'),
  }),
  registrations: part('OpenRegistrationsView', null, {
    pending: count('Registrations that are sent again automatically'),
    oldestPendingSeconds: age(),
    uncertain: count('Registrations on which a person has to decide'),
    oldestUncertainSeconds: age(),
  }),
  starts: part('StartsView', null, {
    abandoned: count(
      'Starts whose lease has expired before their outcome was stored; a worker marks them as failed',
    ),
    oldestAbandonedSeconds: age(),
    orphans: count(
      'Sessions that the remote service may have started in the last 24 hours and whose id nobody knows; they expire there',
    ),
  }),
});
export type StatusView = InstanceType<typeof StatusView>;
export type CredentialsProbeView = InstanceType<typeof CredentialsProbeView>;
