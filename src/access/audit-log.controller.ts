import { Controller, Get, Query } from '@nestjs/common';
import { ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsOptional, Length } from 'class-validator';
import { Database } from '../platform/database/database.js';
import { whereOf } from '../platform/database/where.js';
import { CursorOf, LimitQuery, toPage, type Page } from '../platform/http/page.js';
import { ApiPage } from '../platform/openapi/api-page.decorator.js';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import { count, field, instant, nullable, schemaOf, text } from '../platform/openapi/schema-of.js';
import { Operation } from './operation.decorator.js';

// Without the request id: callers choose it, so it may name somebody.
const AuditEntryView = schemaOf('AuditEntryView', {
  id: count('Order of recording'),
  at: instant(),
  actor: text('What did it, such as `key:` and the id of a key; after `console:`, a session of the console'),
  keyName: nullable(text('null if it was not a key of the list of keys')),
  action: text('An object and a past participle, such as `registration.resolved`'),
  target: nullable(text('Id of what it was done to')),
  details: field<object>({ type: 'object', additionalProperties: true }, 'Without secrets or personal data'),
});
type AuditEntryView = InstanceType<typeof AuditEntryView>;

const MOST_TARGETS = 100;

class ListAuditLogQuery extends LimitQuery {
  @ApiPropertyOptional({
    description: `Only what was done to these: at most ${MOST_TARGETS} ids, separated by commas. Default: everything`,
    type: String,
  })
  @Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.split(',').map((each) => each.trim()) : value,
  )
  @IsOptional()
  @Length(1, 100, { each: true })
  @ArrayMaxSize(MOST_TARGETS)
  @IsArray()
  targets?: string[];

  @CursorOf({ id: 'integer' })
  cursor?: { readonly id: string };
}

@ApiTags('Operation')
@Controller('audit-log')
export class AuditLogController {
  constructor(private readonly database: Database) {}

  @Get()
  @Operation('admin', {
    summary: 'List who did what, newest first',
    description:
      'The same as `admin.audit_log`, without request ids. What was done about a customer has the id of the user, a registration, a session or an invitation as its target.',
  })
  @ApiPage(AuditEntryView)
  @ApiProblems('invalid_request')
  async listAuditLog(@Query() { limit, targets, cursor }: ListAuditLogQuery): Promise<Page<AuditEntryView>> {
    const { where, values } = whereOf([
      ['target = ANY (?)', targets],
      ['entry_id < ?::bigint', cursor?.id],
    ]);
    const rows = await this.database.query<AuditEntryView>(
      `SELECT entry_id::float8 AS id, at, actor, key_name AS "keyName", action, target, details
         FROM admin.audit_log ${where} ORDER BY entry_id DESC LIMIT ${limit + 1}`,
      values,
    );
    return toPage(rows, limit, ({ id }) => [id]);
  }
}
