import { Field } from '../platform/http/field.js';
import { AsParsed, isPlainObject } from '../platform/http/validation.js';
import { LosslessNumber } from '../platform/json/lossless.js';
import { visibleLineFault } from '../platform/spelling.rules.js';
import * as schema from '../platform/openapi/schema-of.js';

/** Half an hour of the slowest operations. */
export const MAX_IDS = 1_000;
const MAX_REASON = 500;

const ITEM_STATUSES = ['pending', 'done', 'skipped', 'failed'] as const;
export type ItemStatus = (typeof ITEM_STATUSES)[number];

/** Returns whether a number is in the value that would be stored as another one, or as null. */
const hasInexactNumber = (value: unknown): boolean =>
  value instanceof LosslessNumber ||
  (typeof value === 'object' && value !== null && Object.values(value).some(hasInexactNumber));

export class NewBulkAction {
  @Field({
    required: true,
    type: String,
    description: 'An operation of this API that has `x-bulk` in openapi.json',
  })
  operationId: string;

  @Field({
    required: true,
    type: String,
    isArray: true,
    format: 'uuid',
    minItems: 1,
    maxItems: MAX_IDS,
    uniqueItems: true,
    description: 'What the parameter in the path of the operation is to be, one after the other',
  })
  ids: string[];

  @AsParsed()
  @Field({
    type: 'object',
    additionalProperties: true,
    description: 'The body of the operation, the same for each id. No personal data. Default: no body',
    faultOf: (value) => {
      if (!isPlainObject(value)) return 'must be a JSON object';
      return hasInexactNumber(value) ? 'must not have a number that a double cannot hold' : undefined;
    },
  })
  arguments?: Readonly<Record<string, unknown>>;

  @Field({
    required: true,
    type: String,
    minLength: 1,
    maxLength: MAX_REASON,
    description: 'Why, for the audit log. No personal data',
    faultOf: (value) => visibleLineFault(value, MAX_REASON),
  })
  reason: string;
}

class BulkItemView extends schema.schemaOf({
  id: schema.uuid(),
  status: schema.oneOf(
    ITEM_STATUSES,
    'skipped: it does not exist, or has changed so that the operation does not apply',
  ),
  code: schema.nullable(schema.text('That of the problem; null if there was none')),
  detail: schema.nullable(schema.text('What is wrong, in our words')),
  doneAt: schema.nullable(schema.instant()),
}) {}

class BulkCountsView extends schema.schemaOf({
  pending: schema.count(),
  done: schema.count(),
  skipped: schema.count(),
  failed: schema.count(),
}) {}

export class BulkActionView extends schema.resourceOf('bulk_action', {
  id: schema.uuid('The requests of the action have the id `bulk-` and this, also in the audit log'),
  operationId: schema.text(),
  arguments: schema.object<object>(
    'As given; empty without a body, and after the erasure of a person on whom it acted',
  ),
  reason: schema.text('As given; `erased` after the erasure of a person on whom it acted'),
  createdBy: schema.text('As `actor` in the audit log'),
  createdAt: schema.instant(),
  finishedAt: schema.nullable(schema.instant('null while ids are pending')),
  counts: schema.view(BulkCountsView),
  items: schema.listOf(BulkItemView, 'In the order of the request'),
}) {}
