import * as schema from '../platform/openapi/schema-of.js';
import { URGENCIES, WAITS_FOR, type Evidence } from './cause.rules.js';

export class RemedyView extends schema.schemaOf({
  operationId: schema.text('An operation of this API'),
  method: schema.text(),
  path: schema.text('With the ids of what is stalled'),
  body: schema.nullable(
    schema.object<Readonly<Record<string, unknown>>>('null if there is none, or if a person has to write it'),
  ),
  label: schema.text('In a few words'),
  confirm: schema.nullable(schema.text('What cannot be undone, in words; null if it can')),
}) {}

export const CAUSE = {
  cause: schema.text('Why it does not continue by itself: a code of the catalogue'),
  waitsFor: schema.oneOf(WAITS_FOR, 'Who has to act next; us: who operates the service'),
  urgency: schema.oneOf(
    URGENCIES,
    'now: every hour makes it worse. soon: within a day. later: a person may look.',
  ),
};

export const STALLED = {
  ...CAUSE,
  since: schema.instant('When the trouble began; it counts only after a threshold'),
  evidence: schema.object<Evidence>('What was found, and the threshold'),
  text: schema.text('The cause in one sentence'),
  before: schema.nullable(schema.text('What a person has to do before the remedies, or without any')),
  remedies: schema.listOf(RemedyView, 'Operations that end it; empty if there is none'),
};

/** The field `stalled` of everything that can be stalled. */
export class StalledView extends schema.schemaOf(STALLED) {}

export const STALLED_FIELD = schema.nullable(
  schema.view(StalledView, 'Why it does not continue by itself, and what can be done; null if it does'),
);
