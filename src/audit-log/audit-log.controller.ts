import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Database } from '../platform/database/database.js';
import { ApiPage, mapPage, type Page } from '../platform/http/page.js';
import { AUDIT_LOG, AuditEntryView, AuditLogQuery } from './audit-log.list.js';
import { Operation } from '../access/operation.decorator.js';
import { Query } from '../platform/http/query.decorator.js';

type AuditEntry = Omit<AuditEntryView, 'object'>;

@ApiTags('Operation')
@Controller('audit-log')
export class AuditLogController {
  constructor(private readonly database: Database) {}

  @Get()
  @Operation('admin', {
    columns: { AGE: 'at', ACTION: 'action', ACTOR: 'actor:24', TARGET: 'target' },
    summary: 'List who did what, newest first',
    description:
      'The same as `admin.audit_log`, without request ids. What was done about a customer has the id of the user, a registration, a session or an invitation as its target.',
  })
  @ApiPage(AuditEntryView)
  async listAuditLog(@Query() query: AuditLogQuery): Promise<Page<AuditEntryView>> {
    return mapPage(await AUDIT_LOG.page<AuditEntry>(this.database, query), AuditEntryView.of);
  }
}
