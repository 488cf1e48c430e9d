import { Field } from '../platform/http/field.js';
import { ReadText } from '../platform/http/validation.js';
import { readInstant } from '../platform/time/instant.rules.js';
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

export class StallChange {
  @Field({ required: true, enum: STALL_KINDS, description: 'What the subject is' })
  kind: StallKind;

  @Field({
    type: String,
    nullable: true,
    maxLength: MAX_NOTE,
    description: 'For the next person',
    faultOf: textFault(MAX_NOTE, false),
  })
  note?: string | null;

  @Field({
    type: String,
    nullable: true,
    maxLength: MAX_ASSIGNEE,
    description: 'Who works on it: any name',
    faultOf: textFault(MAX_ASSIGNEE, true),
  })
  assignee?: string | null;

  @ReadText(readInstant)
  @Field({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Until when it is to be left: in the future, at most 366 days',
  })
  snoozedUntil?: Date | null;
}
