import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, ValidateNested } from 'class-validator';
import { CursorOf } from '../../platform/http/page.js';
import { InstantParameter, OptionalText } from '../../platform/http/parameters.js';
import { CheckedBy, MayBeAbsent } from '../../platform/http/validation.js';
import type { ListPosition } from '../../platform/database/list-position.js';
import { flag, listOf, nullable, schemaOf, text, uuid } from '../../platform/openapi/schema-of.js';
import { isUuid } from '../../platform/uuid.rules.js';
import { lastErrorFault } from '../users.dto.js';
import { DECIDABLE, type RegistrationStatus } from './registration.rules.js';

/** The most registrations of one call. Each takes a few milliseconds, so a call ends well within the patience of clients. */
export const MAX_DECISIONS = 1_000;

const BULK_DECISIONS = ['retry', 'discard'] as const;

function idsFault(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be an array';
  if (value.length < 1 || value.length > MAX_DECISIONS)
    return `must hold 1 to ${MAX_DECISIONS} ids, not ${value.length}`;
  return value.every(isUuid) ? undefined : 'must hold UUIDs';
}

/** ValidateNested accepts a list, whose filters would have no effect: the decision would be about all registrations. */
const filterFault = (value: unknown): string | undefined =>
  Array.isArray(value) ? 'must be a JSON object' : undefined;

class DecisionFilter {
  @ApiProperty({ enum: DECIDABLE.retry })
  @IsIn(DECIDABLE.retry)
  status: RegistrationStatus;

  @InstantParameter('Only registrations created at or after this instant')
  createdSince?: Date;

  @InstantParameter('Only registrations created before this instant')
  createdBefore?: Date;

  @OptionalText(lastErrorFault, {
    minLength: 1,
    maxLength: 200,
    description: 'Only registrations whose `lastError` contains this text',
  })
  lastError?: string;
}

export class BulkDecision {
  @ApiProperty({ enum: BULK_DECISIONS })
  @IsIn(BULK_DECISIONS)
  decision: (typeof BULK_DECISIONS)[number];

  @ApiPropertyOptional({
    type: [String],
    format: 'uuid',
    minItems: 1,
    maxItems: MAX_DECISIONS,
    description: 'The registrations. Give either these or `filter`',
  })
  @MayBeAbsent()
  @CheckedBy(idsFault)
  ids?: string[];

  @ApiPropertyOptional({
    type: DecisionFilter,
    description: `Decides about all registrations that \`GET /registrations\` lists with these filters, at most ${MAX_DECISIONS} per call`,
  })
  @MayBeAbsent()
  @Type(() => DecisionFilter)
  @ValidateNested()
  @CheckedBy(filterFault)
  filter?: DecisionFilter;

  @CursorOf({ at: 'instant', id: 'uuid' })
  cursor?: ListPosition;

  @InstantParameter(
    'Leaves registrations as they are that have changed at or after this instant, such as one that was sent again since. Makes a repetition of the request harmless',
  )
  unchangedSince?: Date;
}

const DecisionResultView = schemaOf('DecisionResultView', {
  id: uuid(),
  ok: flag('Whether the decision holds: it was applied now, or to discard, before'),
  code: nullable(text('If not: the code of the problem, `not_found` or `registration_conflict`')),
  detail: nullable(text('If not: why, for people')),
});

export const DecisionsView = schemaOf('DecisionsView', {
  items: listOf(DecisionResultView, 'One for each registration'),
  next: nullable(text('With `filter`: the `cursor` of the next call; null if no more registrations match')),
});
export type DecisionsView = InstanceType<typeof DecisionsView>;
