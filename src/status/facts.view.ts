import { PHASES } from '../onboarding/rules/schedule.rules.js';
import {
  field,
  flag,
  listOf,
  nullable,
  oneOf,
  text,
  texts,
  withColumns,
} from '../platform/openapi/schema-of.js';
import type { ObjectOf } from '../platform/openapi/schema-of.js';
import { count, instant, list, number, part } from './figures.js';
import { REMOTE, TOKEN } from './remote.view.js';
import { ReplicaView } from './replica.view.js';

const age = (gauge?: string) => number('Age of the oldest of these, in seconds; 0 if there is none', gauge);

/** The fields of the status about the deployment and the responding replica. */
export const FACTS = {
  build: part('BuildView', 'What the responding replica runs', {
    version: text(),
    commit: nullable(text('null if it is unknown')),
    newestMigration: nullable(text('The newest migration that it has')),
  }),
  replicas: withColumns(
    listOf(ReplicaView, 'The running processes, and those that stopped or vanished within the last hour'),
    {
      REPLICA: 'name',
      ROLE: 'role',
      VERSION: 'version',
      COMMIT: 'commit:13',
      ALIVE: 'isAlive',
      SEEN: 'lastSeenAt',
      'READS/S': 'readsPerSecond',
      PACED: 'pacedSince',
      SLOW: 'slow',
    },
  ),
  tableLocks: texts('Who locks our tables in the database against writing; empty if nobody does'),
  hasNoSpace: flag(
    'Whether a statement of the responding replica failed in the last 15 seconds because the database has no space left',
  ),
  writesFault: nullable(
    text('Why the responding replica has written no sign of life in the last 5 seconds; null if it has'),
  ),
  remote: REMOTE,
  token: TOKEN,
  poller: nullable(
    part('PollerView', 'null while the table of the schedule is locked: see `tableLocks`', {
      watched: count('Watched sessions', 'watched_sessions'),
      overdue: count('Sessions that are due and not claimed', 'overdue_sessions'),
      oldestOverdueSeconds: number(
        'By how much the most overdue one is late; 0 if none is',
        'lateness_seconds',
      ),
      reading: count('Sessions that workers have claimed now', 'claimed_sessions'),
      batches: count(),
      readsPerSecond: number('Successful reads of all live replicas, in the last 10 seconds'),
      newestReadSeconds: nullable(
        number('Age of the newest successful read; null if none is known. Of the same sample as `phases`'),
      ),
      longestWaitSeconds: number(
        'For how long the session that waits longest has been due, claimed or failing; 0 if none waits. Of the same sample',
      ),
      phases: list(
        'PollerPhaseView',
        'phase',
        'Of a random sample if there are more than some 50,000 watched sessions',
        {
          phase: oneOf(PHASES),
          oldestReadSeconds: number(
            'Age of the last successful read of the session that was read longest ago, of those that are due, being read, or planned again after a failure; 0 if there is none',
            'oldest_read_age_seconds',
          ),
          medianReadSeconds: number('Median age of the last successful read', 'median_read_age_seconds'),
        },
      ),
      abandonedBatches: count(
        'Batches whose lease has expired; another worker takes them over',
        'abandoned_batches',
      ),
    }),
  ),
  budget: part(
    'BudgetView',
    'The reads that the whole deployment wants and may do; see `remote.budget_short`',
    {
      stretch: number(
        'By how much all intervals are longer than planned; 1 while there is room',
        'read_stretch',
      ),
      maxIntervalSeconds: number('POLL_MAX_INTERVAL_MS times the stretch'),
      recentMaxIntervalSeconds: number(
        'The highest `maxIntervalSeconds` of the last 4 hours, by which sessions may still be planned',
      ),
      wantedPerSecond: number('Reads per second at stretch 1', 'wanted_reads_per_second'),
      allowedPerSecond: nullable(
        number('Reads per second at this stretch; null if nothing limits them', 'allowed_reads_per_second'),
      ),
      isShort: flag('Whether `remote.budget_short` was announced and its end was not'),
      late: list(
        'LatePhaseView',
        'phase',
        'By phase; phases without overdue sessions are absent. Empty if `poller` is null',
        {
          phase: oneOf(PHASES),
          overdue: count('Sessions that are due and not claimed'),
          oldestOverdueSeconds: number(
            'By how much the most overdue session is late',
            'phase_lateness_seconds',
          ),
        },
      ),
      noticed: part(
        'NoticedView',
        'How long after a change of a session in its first 10 minutes it was noticed, by the clock of the remote service, over the last hour',
        {
          changes: count('Changes that are counted, at most 2,000'),
          // The label is not `quantile`, because Prometheus reserves that for summaries.
          p50Seconds: nullable(
            number('Median; null without changes', 'noticed_after_seconds{percentile="50"}'),
          ),
          p95Seconds: nullable(
            number('95th percentile; null without changes', 'noticed_after_seconds{percentile="95"}'),
          ),
        },
      ),
    },
  ),
  activity: part('ActivityView', 'What happens, compared with the same hours of the last 7 days', {
    lastChangeAt: nullable(
      instant(
        'When a session last changed to awaiting_installation or online',
        'last_change_timestamp_seconds',
      ),
    ),
    unchangedSeconds: age(),
    usualChanges: nullable(
      count(
        'The least number of such changes within `unchangedSeconds` at the same hours of the last 7 days, at most 1,000; null if it is under 15 minutes, or there are less than 3 days',
        'usual_changes',
      ),
    ),
    startsPerHour: count('Sessions that were started within the last hour, at most 1,000', 'starts_per_hour'),
    usualStartsPerHour: nullable(
      count(
        'The least number of these at the same hour of the last 7 days; null if there are less than 3 days',
        'usual_starts_per_hour',
      ),
    ),
  }),
  oldestTransaction: nullable(
    part(
      'OldestTransactionView',
      'The oldest open transaction of the database that the service may see; a pg_dump only after 6 hours',
      { seconds: number('Its age'), process: text('Whose it is, for people') },
    ),
  ),
  outbox: part('OutboxView', null, {
    unsequenced: count('Events that have no sequence number yet', 'unsequenced_events'),
    oldestUnsequencedSeconds: age('unsequenced_event_age_seconds'),
    readers: part(
      'ReadersView',
      'Each reader has its own place, so none waits for another. The feed stores no place; its readers do',
      {
        handlers: part('HandlersView', 'In-process handlers', {
          undelivered: count(
            'Deliveries of events that in-process handlers have not completed yet',
            'reader_pending{reader="handlers"}',
          ),
          failing: count('Deliveries among these that have failed at least once'),
          oldestFailingSeconds: number(
            'Age of the oldest delivery that has failed at least once, in seconds; 0 if there is none',
          ),
          oldestUndeliveredSeconds: age('reader_lag_seconds{reader="handlers"}'),
        }),
        webhooks: part('WebhooksView', null, {
          endpoints: count('Enabled endpoints'),
          failingEndpoints: count(
            'Those stalled as `failing`: all attempts have failed for 15 minutes',
            'webhook_endpoints{state="failing"}',
          ),
          oldestFailingSeconds: number(
            'How long the first of these has been failing, in seconds; 0 if none fails',
          ),
          disabledEndpoints: count(
            'Those stalled as `gone` or `disabled_after_failures`: they were disabled automatically',
            'webhook_endpoints{state="disabled"}',
          ),
          unread: count(
            'Events not yet offered to the enabled endpoint that is furthest behind, subscribed or not. A worker offers them within a second',
            'reader_pending{reader="webhooks"}',
          ),
          undelivered: count(
            'Deliveries to enabled endpoints that wait for their first attempt or a retry',
            'reader_pending{reader="webhooks"}',
          ),
          failing: count('Deliveries among these that have failed at least once'),
          oldestUndeliveredSeconds: number(
            'Age of the oldest event that is unread or undelivered, in seconds; 0 if nothing waits',
            'reader_lag_seconds{reader="webhooks"}',
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
            unpublished: count(
              'Events that the broker has not confirmed yet',
              'reader_pending{reader="broker"}',
            ),
            oldestUnpublishedSeconds: age('reader_lag_seconds{reader="broker"}'),
            publishedAt: nullable(instant('When the broker last confirmed an event')),
            failingSince: nullable(
              instant('Since when the broker has accepted no event; null while it accepts them'),
            ),
            failingSeconds: number(
              'For how long it has accepted none; 0 while it accepts them',
              'broker_failing_seconds',
            ),
            lastError: nullable(text()),
            warnings: texts(
              'Settings of the broker by which it may lose events, as of the last connection to it; empty if there are none',
            ),
          }),
        ),
      },
    ),
  }),
  sessions: part('OpenSessionsView', 'Open sessions that may need a person; `GET /stalled` lists them', {
    unrecognised: count('Those stalled as `unrecognised` or `too_many_inverters`'),
    lost: count('Those stalled as `lost` and still read'),
    allInvertersMissing: count('Those stalled as `all_inverters_missing`'),
    someInvertersMissing: count('Those stalled as `some_inverters_missing`'),
    sharedInverters: count(
      'Inverters that are stalled, as five or more customers list them at once',
      'shared_inverters',
    ),
    stalled: list('StalledCauseView', 'cause', 'Those that are stalled, by cause', {
      cause: text('As in `GET /stalled`'),
      sessions: count('Sessions that are stalled for this cause'),
    }),
  }),
  brandOutages: list(
    'BrandOutageView',
    'brand',
    'Brands of which most of the newest sessions cannot be read now, while those of others are: no owner begins with them',
    {
      brand: text(),
      failing: count(
        'How many of its newest sessions have failed three times in a row, or once while reads are held back',
        'brand_failing_sessions',
      ),
      read: count('How many of these were read at their usual interval'),
      seconds: number('For how long enough have failed'),
    },
  ),
  registrations: part('OpenRegistrationsView', null, {
    pending: count('Registrations that are sent again automatically', 'registrations{status="pending"}'),
    oldestPendingSeconds: age('registration_age_seconds{status="pending"}'),
    uncertain: count(
      'Those stalled as `uncertain`: a person has to decide',
      'registrations{status="uncertain"}',
    ),
    oldestUncertainSeconds: age('registration_age_seconds{status="uncertain"}'),
    areUnchecked: flag(
      'Whether a backup was restored and the references that were registered after it are unchecked: until then each new one becomes `uncertain`, and campaigns register none',
    ),
    rejected: count(
      'Registrations that the remote service rejected in the last 24 hours, counted up to 10,000',
    ),
  }),
  starts: part('StartsView', null, {
    abandoned: count(
      'Starts whose lease has expired before their outcome was stored; a worker marks them as failed',
      'abandoned_starts',
    ),
    oldestAbandonedSeconds: number(
      'How long ago the first lease of these expired, in seconds; 0 if there is none',
      'abandoned_start_age_seconds',
    ),
    orphans: count(
      'Sessions that the remote service may have started in the last 24 hours and whose id nobody knows; they expire there',
      'orphans',
    ),
    newOrphans: count('Those among these of the last hour'),
  }),
};

export type Facts = ObjectOf<typeof FACTS>;
