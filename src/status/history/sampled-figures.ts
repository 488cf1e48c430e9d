import { count, nullable, number, type Field } from '../../platform/openapi/schema-of.js';
import { OPERATION_CLASSES } from '../../remote/outcome.rules.js';
import type { Facts } from '../facts.view.js';

type Calls = Facts['remote']['deployment']['calls'][number];

/** A figure of the history. `summary`: how SQL summarises several samples: a rate by its mean, any other figure by its worst value. */
export interface HistoryFigure<From> {
  readonly schema: Field<number | null>;
  readonly summary: 'max' | 'min' | 'avg';
  readonly of: (from: From) => number | null;
}

const figure =
  (summary: HistoryFigure<unknown>['summary'], type = number) =>
  <From>(description: string, of: HistoryFigure<From>['of']): HistoryFigure<From> => ({
    schema: nullable(type(description)),
    summary,
    of,
  });
const highest = figure('max');
const lowest = figure('min');
const mean = figure('avg');
const most = figure('max', count);
const fewest = figure('min', count);

/** The figures of the deployment. */
export const FIGURES = {
  readsPerSecond: mean('Successful reads of sessions', ({ poller }: Facts) => poller?.readsPerSecond ?? null),
  wantedPerSecond: mean('Reads per second at stretch 1', ({ budget }) => budget.wantedPerSecond),
  allowedPerSecond: mean(
    'Reads per second at this stretch; null if nothing limits them',
    ({ budget }) => budget.allowedPerSecond,
  ),
  stretch: highest('By how much all intervals are longer than planned', ({ budget }) => budget.stretch),
  maxIntervalSeconds: highest(
    'POLL_MAX_INTERVAL_MS times the stretch',
    ({ budget }) => budget.maxIntervalSeconds,
  ),
  overdue: most('Sessions that are due and not claimed', ({ poller }) => poller?.overdue ?? null),
  latenessSeconds: highest(
    'By how much the most overdue session is late',
    ({ poller }) => poller?.oldestOverdueSeconds ?? null,
  ),
  oldestReadSeconds: highest(
    'Age of the last successful read of the session that was read longest ago, of those that are due',
    ({ poller }) => poller && Math.max(0, ...poller.phases.map(({ oldestReadSeconds }) => oldestReadSeconds)),
  ),
  stalled: most('Stalled sessions of all causes', ({ sessions }) =>
    sessions.stalled.reduce((sum, each) => sum + each.sessions, 0),
  ),
  uncertain: most('Registrations on which a person has to decide', (facts) => facts.registrations.uncertain),
  pending: most('Registrations that are sent again', (facts) => facts.registrations.pending),
  startsPerHour: mean('Sessions that were started', ({ activity }) => activity.startsPerHour),
  handlersLagSeconds: highest(
    'Age of the oldest event that in-process handlers have not completed',
    ({ outbox }) => outbox.readers.handlers.oldestUndeliveredSeconds,
  ),
  webhooksLagSeconds: highest(
    'Age of the oldest event that an enabled endpoint has not received',
    ({ outbox }) => outbox.readers.webhooks.oldestUndeliveredSeconds,
  ),
  brokerLagSeconds: highest(
    'Age of the oldest event that the broker has not confirmed; null if there is no broker',
    ({ outbox }) => outbox.readers.broker?.oldestUnpublishedSeconds ?? null,
  ),
  failingEndpoints: most(
    'Webhook endpoints whose attempts all fail',
    ({ outbox }) => outbox.readers.webhooks.failingEndpoints,
  ),
  oldestTransactionSeconds: highest(
    'Age of the oldest open transaction of the database; 0 if there is none',
    ({ oldestTransaction }) => oldestTransaction?.seconds ?? 0,
  ),
  liveReplicas: fewest('Live processes', ({ replicas }) => replicas.filter(({ isAlive }) => isAlive).length),
} satisfies Readonly<Record<string, HistoryFigure<Facts>>>;

/** The figures of each operation of the remote service, about its calls in the last 5 minutes. */
export const OPERATION_FIGURES = {
  calls: figure('max', count)('Calls, failed ones too', ({ succeeded, failed }: Calls) => succeeded + failed),
  successShare: lowest(
    'Share of the calls that `succeeded` as in the status, 0 to 1; null without calls',
    (calls) =>
      calls.succeeded + calls.failed === 0 ? null : calls.succeeded / (calls.succeeded + calls.failed),
  ),
  p95Seconds: highest('95th percentile of the duration of successful calls', (calls) => calls.p95Seconds),
} satisfies Readonly<Record<string, HistoryFigure<Calls>>>;

/** The name of a figure of an operation in the stored samples. */
export const nameOf = (operation: string, figureName: string): string => `${operation}.${figureName}`;

/** How each figure of a stored sample is summarised, by its name. */
export const SUMMARIES: ReadonlyMap<string, HistoryFigure<never>['summary']> = new Map([
  ...Object.entries(FIGURES).map(([name, { summary }]) => [name, summary] as const),
  ...OPERATION_CLASSES.flatMap((operation) =>
    Object.entries(OPERATION_FIGURES).map(
      ([name, { summary }]) => [nameOf(operation, name), summary] as const,
    ),
  ),
]);

/** Returns the figures of a sample by their names. */
export function sampleOf(facts: Facts): Record<string, number | null> {
  const sample: Record<string, number | null> = {};
  for (const [name, { of }] of Object.entries(FIGURES)) sample[name] = of(facts);
  for (const calls of facts.remote.deployment.calls)
    for (const [name, { of }] of Object.entries(OPERATION_FIGURES))
      sample[nameOf(calls.operation, name)] = of(calls);
  return sample;
}
