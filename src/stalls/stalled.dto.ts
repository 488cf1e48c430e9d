import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsDate, IsIn, IsOptional } from 'class-validator';
import { CheckedBy, ReadText } from '../platform/http/validation.js';
import { parseInstant } from '../platform/time/instant.rules.js';
import { STALL_KINDS, type StallKind } from './cause.rules.js';

const MAX_NOTE = 2_000;
const MAX_ASSIGNEE = 200;
/** Matches what nobody sees, apart from line breaks and tabs. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

const textFault = (maxLength: number, isLine: boolean) => (value: unknown) => {
  if (typeof value !== 'string' || value.trim() === '' || value.length > maxLength)
    return `must have 1 to ${maxLength} characters, or be null`;
  if (isLine && /[\n\t]/.test(value)) return 'must be one line';
  return UNSEEN.test(value) || !value.isWellFormed()
    ? 'must not contain characters that nobody sees'
    : undefined;
};

/** Declares a field that may be absent, and null to remove the value. */
const Removable = (faultOf: (value: unknown) => string | undefined, schema: object): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: String, nullable: true, ...schema }),
    IsOptional(),
    CheckedBy(faultOf),
  );

export class StallChange {
  @ApiProperty({ enum: STALL_KINDS, description: 'What the subject is' })
  @IsIn(STALL_KINDS)
  kind: StallKind;

  @Removable(textFault(MAX_NOTE, false), { maxLength: MAX_NOTE, description: 'For the next person' })
  note?: string | null;

  @Removable(textFault(MAX_ASSIGNEE, true), {
    maxLength: MAX_ASSIGNEE,
    description: 'Who works on it: any name',
  })
  assignee?: string | null;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Until when it is to be left: in the future, at most 366 days',
  })
  @ReadText((text) => {
    const read = parseInstant(text);
    return read.kind === 'instant' ? read.at : text;
  })
  @IsOptional()
  @IsDate({ message: '$property must be an RFC 3339 timestamp with Z or an offset, or null' })
  snoozedUntil?: Date | null;
}
