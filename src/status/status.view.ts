import { instant, listOf, nullable, oneOf, schemaOf, text } from '../platform/openapi/schema-of.js';
import { FACTS } from './facts.view.js';
import { REASON_CODES } from './health.rules.js';

class StatusReasonView extends schemaOf({
  code: oneOf(REASON_CODES),
  detail: text('For people'),
  since: nullable(
    instant(
      'Since when the samples of the status have had this reason, one a minute, or since when its cause is known to last, if that is earlier; null if neither is known yet. An absence of at most 5 minutes does not count',
    ),
  ),
}) {}

export class StatusView extends schemaOf({
  health: oneOf(['healthy', 'degraded'] as const, '`degraded` if there are `reasons`'),
  reasons: listOf(StatusReasonView, 'What is wrong, the worst first; empty while all is well'),
  ...FACTS,
}) {}
