import { IntegerParameter } from '../../platform/http/parameters.js';
import {
  count,
  field,
  instant,
  listOf,
  oneOf,
  resourceOf,
  schemaOf,
} from '../../platform/openapi/schema-of.js';
import { OPERATION_CLASSES } from '../../remote/outcome.rules.js';
import { described, REASON_CODES } from '../reasons.js';
import { REASON } from '../status.view.js';
import { FIGURES, nameOf, OPERATION_FIGURES, type HistoryFigure } from './sampled-figures.js';
import type { SampleRow } from './samples.store.js';

/** The reasons of the status, and one that only the history has: while the database is unavailable, nobody can read the status. */
const HISTORY_CODES = ['database_unavailable', ...REASON_CODES] as const;
type HistoryCode = (typeof HISTORY_CODES)[number];

const UNAVAILABLE = {
  code: 'database_unavailable',
  severity: 'critical',
  title: 'The status could not be read: the database was unavailable',
  waitsFor: 'us',
  runbook: 'docs/operations.md#the-service-is-not-ready',
  remedies: [],
} as const;

export class HistoryQuery {
  @IntegerParameter({ minimum: 1, maximum: 168, default: 24, description: 'How far back, in hours' })
  hours: number = 24;
}

type Figures = Readonly<Record<string, Pick<HistoryFigure<never>, 'schema'>>>;
const schemasOf = <F extends Figures>(figures: F) =>
  Object.fromEntries(Object.entries(figures).map(([name, { schema }]) => [name, schema])) as {
    readonly [Name in keyof F]: F[Name]['schema'];
  };

class OperationPointView extends schemaOf({
  operation: oneOf(OPERATION_CLASSES),
  ...schemasOf(OPERATION_FIGURES),
}) {}
class LastedView extends schemaOf({
  code: oneOf(HISTORY_CODES),
  seconds: count('For how long the reason was present in the step: a minute for each sample that has it'),
  until: instant('The end of the last minute of the step that has it'),
}) {}
class StatusPointView extends schemaOf({
  at: instant('The beginning of the step'),
  reasons: field<readonly HistoryCode[]>(
    { enum: HISTORY_CODES, isArray: true },
    'All reasons of the step, the worst first. `database_unavailable`: the status could not be read',
  ),
  lasted: listOf(LastedView, 'The same reasons, and how long each was present'),
  ...schemasOf(FIGURES),
  operations: listOf(OperationPointView, 'The calls of all processes in the 5 minutes before'),
}) {}
class PastReasonView extends schemaOf({ code: oneOf(HISTORY_CODES), ...REASON }) {}
export class StatusHistoryView extends resourceOf('status_history', {
  stepSeconds: count('The length of a step'),
  reasons: listOf(PastReasonView, 'What the reasons of the points mean, the worst first'),
  points: listOf(
    StatusPointView,
    'The steps, the oldest first, without those in which no process ran. A figure is the worst of its step, or the mean if it is a rate',
  ),
}) {}
type Point = StatusHistoryView['points'][number];

/** Returns the length of a step in seconds: whole minutes, so that there are at most some 300 steps. */
export const stepOf = (hours: number): number => 60 * Math.ceil(hours / 5);

export function toHistory(stepSeconds: number, rows: readonly SampleRow[]): StatusHistoryView {
  const points = rows.map(toPoint);
  const reasons = HISTORY_CODES.filter((code) => points.some((point) => point.reasons.includes(code)));
  return StatusHistoryView.of({
    stepSeconds,
    reasons: reasons.map((code) => (code === 'database_unavailable' ? UNAVAILABLE : described(code))),
    points,
  });
}

function toPoint({ at, reasons, figures }: SampleRow): Point {
  /** Returns the stored figures with these names. A figure is null if the release that wrote the samples did not know it. */
  const pick = <F extends Figures>(names: F, nameIn = (name: string) => name) =>
    Object.fromEntries(Object.keys(names).map((name) => [name, figures[nameIn(name)] ?? null])) as Record<
      keyof F,
      number | null
    >;
  const lasted = HISTORY_CODES.flatMap((code) =>
    reasons
      .filter((each) => each.code === code)
      .map(({ seconds, until }) => ({ code, seconds, until: new Date(until) })),
  );
  return {
    at,
    reasons: lasted.map(({ code }) => code),
    lasted,
    ...pick(FIGURES),
    operations: OPERATION_CLASSES.map((operation) => ({
      operation,
      ...pick(OPERATION_FIGURES, (name) => nameOf(operation, name)),
    })),
  };
}
