import {
  instant,
  listOf,
  nullable,
  oneOf,
  resourceOf,
  schemaOf,
  text,
} from '../platform/openapi/schema-of.js';
import { FACTS } from './facts.view.js';
import { described, REASON_CODES } from './reasons.js';
import { causeOf } from './reasons/incidents.rules.js';
import { ACTORS, SEVERITIES } from './reasons/reason.js';
import type { DeploymentStatus } from './status.service.js';

class ReasonRemedyView extends schemaOf({
  operationId: text('The operation of this API'),
  method: text(),
  path: text(),
  label: text('What it does, in a few words'),
}) {}

/** The fields by which the API describes a reason. */
export const REASON = {
  severity: oneOf(SEVERITIES, '`critical`: a person has to act at night, too'),
  title: text('A sentence without its full stop'),
  waitsFor: oneOf(
    ACTORS,
    'Who has to act next: `us`, the operator of this service; `tenant`, its apps and people',
  ),
  runbook: text('What to do: a section of the documents in the repository'),
  remedies: listOf(ReasonRemedyView, 'The operations that can end it; empty if none can'),
};

class StatusReasonView extends schemaOf({
  code: oneOf(REASON_CODES),
  ...REASON,
  detail: text('For people'),
  followsFrom: nullable(
    oneOf(REASON_CODES, 'The present reason from which this one probably follows; null if from none'),
  ),
  since: nullable(
    instant(
      'Since when the samples of the status have had this reason, one a minute, or since when its cause is known to last, if that is earlier; null if neither is known yet. An absence of at most 5 minutes does not count',
    ),
  ),
}) {}

export class StatusView extends resourceOf('status', {
  health: oneOf(['healthy', 'degraded'] as const, '`degraded` if there are `reasons`'),
  reasons: listOf(StatusReasonView, 'What is wrong, the worst first; empty while all is well'),
  ...FACTS,
}) {}

export function toStatus({ facts, reasons }: DeploymentStatus): StatusView {
  const present = new Set(reasons.map(({ code }) => code));
  return StatusView.of({
    health: reasons.length === 0 ? 'healthy' : 'degraded',
    reasons: reasons.map((reason) => ({
      ...described(reason.code),
      ...reason,
      followsFrom: causeOf(reason.code, present),
    })),
    ...facts,
  });
}
