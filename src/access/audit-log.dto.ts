import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsOptional, Length } from 'class-validator';
import { CursorOf, LimitQuery } from '../platform/http/page.js';
import { ReadText } from '../platform/http/validation.js';
import { count, instant, nullable, object, schemaOf, text } from '../platform/openapi/schema-of.js';

const MOST_TARGETS = 100;

export class ListAuditLogQuery extends LimitQuery {
  @ApiPropertyOptional({
    description: `Only what was done to these: at most ${MOST_TARGETS} ids, separated by commas. Default: everything`,
    type: String,
  })
  @ReadText((ids) => ids.split(',').map((id) => id.trim()))
  @IsOptional()
  @Length(1, 100, { each: true })
  @ArrayMaxSize(MOST_TARGETS)
  @IsArray()
  targets?: string[];

  @CursorOf({ id: 'integer' })
  cursor?: { readonly id: string };
}

// Omits the request id: callers choose it, so it may contain a name.
export class AuditEntryView extends schemaOf({
  id: count('Order of recording'),
  at: instant(),
  actor: text('What did it, such as `key:` and the id of a key; after `console:`, a session of the console'),
  keyName: nullable(text('null if it was not a key of the list of keys')),
  action: text('An object and a past participle, such as `registration.resolved`'),
  target: nullable(text('Id of what it was done to')),
  details: object('Without secrets or personal data'),
}) {}
