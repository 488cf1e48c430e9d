import { finished, Readable } from 'node:stream';
import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ActiveCallers } from '../../access/active-callers.service.js';
import { CurrentKey, Operation } from '../../access/operation.decorator.js';
import { actorOf, type Principal } from '../../access/scopes.js';
import { ParseUuid } from '../../platform/http/parameters.js';
import { Places } from '../../platform/http/places.js';
import { keyOf } from '../../platform/database/personal-data.js';
import * as schema from '../../platform/openapi/schema-of.js';
import { found } from '../../platform/problem/problem.js';
import { PERSONAL_DATA } from '../personal-data.js';
import { ExportStore } from './export.store.js';

const EXPORTS = { of: 'exports', ofKey: 2 };

class UserExportView extends schema.resourceOf('user_export', {
  userId: schema.uuid(),
  exportedAt: schema.instant(),
  data: schema.field<Record<string, Record<string, unknown>[]>>(
    { type: 'object', additionalProperties: { type: 'array', items: { type: 'object' } } },
    `The rows of each table, with all their columns but hashes and encrypted ones: ${PERSONAL_DATA.map((part) => `\`${keyOf(part)}\``).join(', ')}. Further tables and columns may follow`,
  ),
}) {}

@ApiTags('Users')
@Controller('users')
export class ExportController {
  private readonly places = new Places(EXPORTS);

  constructor(
    private readonly store: ExportStore,
    private readonly callers: ActiveCallers,
  ) {}

  @Get(':userId/export')
  @Operation('users:erase', {
    summary: 'Export the personal data of a user',
    description:
      'One document with everything that an erasure would remove, by table, as it is stored: for a request of access (GDPR, article 15) or ' +
      'before an erasure. Links, tokens, their hashes and each `startUrl` are not part of it, because they open something. Each export is ' +
      'in the audit log.',
  })
  @ApiOkResponse({ type: UserExportView, description: 'The document, streamed' })
  async exportUser(
    @Param('userId', ParseUuid) userId: string,
    @CurrentKey() key: Principal,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const leave = this.places.take(actorOf(key));
    // Unlike a listener, `finished` also notices that the client has gone already.
    finished(reply.raw, leave);
    const person = found(await this.store.begin(userId, actorOf(key)), `user ${userId}`);
    // Resets the connection, so that what has arrived does not look like the whole document.
    const unwatch = this.callers.watch(key, () => reply.raw.destroy());
    finished(reply.raw, unwatch);
    void reply.headers({
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': `attachment; filename="user-${userId}.json"`,
    });
    void reply.send(Readable.from(this.store.document(person), { highWaterMark: 1 }));
  }
}
