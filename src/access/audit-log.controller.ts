import { Controller, Get, Query } from '@nestjs/common';
import { ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsOptional, Length } from 'class-validator';
import { Database } from '../platform/database/database.js';
import { CursorOf, LimitQuery, toPage, type Page } from '../platform/http/page.js';
import { ReadText } from '../platform/http/validation.js';
import { ApiPage } from '../platform/openapi/api-page.decorator.js';
import { listAudit } from './audit-log.store.js';
import { AuditEntryView } from './audit-log.view.js';
import { Operation } from './operation.decorator.js';

const MOST_TARGETS = 100;

class ListAuditLogQuery extends LimitQuery {
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
  async listAuditLog(@Query() { limit, targets, cursor }: ListAuditLogQuery): Promise<Page<AuditEntryView>> {
    const rows = await listAudit(this.database, { targets, before: cursor?.id, limit: limit + 1 });
    return toPage(rows, limit, ({ id }) => [id]);
  }
}
