import { Field } from '../platform/http/field.js';
import { ReadText } from '../platform/http/validation.js';
import { invisibleFault, visibleLineFault } from '../platform/spelling.rules.js';
import { readInstant } from '../platform/time/instant.rules.js';
import { STALL_KINDS, type StallKind } from '../stalls/cause.rules.js';

const MAX_NOTE = 2_000;
const MAX_ASSIGNEE = 200;
/** Returns why `value` is no note, which may have several lines, else undefined. */
function noteFault(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_NOTE)
    return `must have 1 to ${MAX_NOTE} characters, or be null`;
  const isText = value.isWellFormed() && !/[^\P{Cc}\n\t]/u.test(value);
  return isText ? invisibleFault(value) : 'must not contain control characters or half a surrogate pair';
}

export class StallChange {
  @Field({ required: true, enum: STALL_KINDS, description: 'What the subject is' })
  kind: StallKind;

  @Field({
    type: String,
    nullable: true,
    maxLength: MAX_NOTE,
    description: 'For the next person',
    faultOf: noteFault,
  })
  note?: string | null;

  @Field({
    type: String,
    nullable: true,
    maxLength: MAX_ASSIGNEE,
    description: 'The name of the person or the team that works on it',
    faultOf: (value) => visibleLineFault(value, MAX_ASSIGNEE),
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
