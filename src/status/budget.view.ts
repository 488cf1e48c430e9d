import {
  count,
  field,
  flag,
  listOf,
  nullable,
  oneOf,
  schemaOf,
  view,
} from '../platform/openapi/schema-of.js';

export const PHASES = [
  'awaiting_owner',
  'awaiting_installation',
  'settling',
  'late',
  'unrecognised',
] as const;

const number = (description: string) => field<number>({ type: 'number' }, description);

const LatePhaseView = schemaOf('LatePhaseView', {
  phase: oneOf(PHASES),
  overdue: count('Sessions that are due but not being read yet'),
  oldestOverdueSeconds: number('By how much the most overdue session is late'),
});

export const BudgetView = schemaOf('BudgetView', {
  stretch: number('By how much all intervals between reads are longer than planned; 1 while there is room'),
  wantedPerSecond: number('Reads per second that all watched sessions would take at stretch 1'),
  allowedPerSecond: nullable(
    number('Reads per second to which the stretch leads; null if nothing is known to limit them'),
  ),
  isShort: flag('Whether `remote.budget_short` was announced and is not over'),
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
export type BudgetView = InstanceType<typeof BudgetView>;
