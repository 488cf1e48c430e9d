import { Body, Controller, Delete, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentKey, Operation } from '../access/operation.decorator.js';
import { actorOf, hasScope, type Principal } from '../access/scopes.js';
import { ApiPage, mapPage, type Page } from '../platform/http/page.js';
import { ParseUuid } from '../platform/http/parameters.js';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import { LOCATION } from '../platform/openapi/response-headers.js';
import { found, Problem } from '../platform/problem/problem.js';
import { WRITE_SCOPES_OF_KIND } from '../stalls/cause.rules.js';
import { StallViews } from '../stalls/stall-views.service.js';
import { InvitationLinkView, InvitationView } from './invitation.view.js';
import { NewInvitation } from './invitations.dto.js';
import { InvitationsQuery } from './invitations.list.js';
import { InvitationsService } from './invitations.service.js';
import { InvitationsStore, withoutLink, type InvitationRow } from './invitations.store.js';
import { Query } from '../platform/http/query.decorator.js';

/** A person on the telephone reads some ten an hour. */
const LINKS_PER_HOUR = 100;

@ApiTags('Invitations')
@Controller('invitations')
export class InvitationsController {
  constructor(
    private readonly invitations: InvitationsService,
    private readonly store: InvitationsStore,
    private readonly stalls: StallViews,
  ) {}

  @Post()
  @Operation([], {
    anyScope: WRITE_SCOPES_OF_KIND.invitation,
    summary: 'Invite the owner of a grid location',
    description:
      'Returns 200 with the live invitation of the location, unchanged, if there is one. The link stays valid until the installation is online, or the invitation is revoked or past its date.',
  })
  @ApiCreatedResponse({ type: InvitationView, headers: LOCATION })
  @ApiOkResponse({ description: 'The live invitation', type: InvitationView, headers: LOCATION })
  @ApiProblems('not_found')
  async createInvitation(
    @Body() input: NewInvitation,
    @CurrentKey() key: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<InvitationView> {
    const { invitation, created } = await this.invitations.invite(input);
    void reply.status(created ? 201 : 200).header('location', `/api/v1/invitations/${invitation.id}`);
    return this.view(invitation, key);
  }

  @Get()
  @Operation('onboarding:read', {
    columns: {
      ID: 'id',
      STATE: 'state',
      AGE: 'createdAt',
      BRANDS: 'brands:16',
      REFERENCE: 'tenantReference:24',
    },
    summary: 'List invitations, the newest first',
    description: 'Without those of erased users.',
  })
  @ApiPage(InvitationView)
  async listInvitations(
    @Query() query: InvitationsQuery,
    @CurrentKey() key: Principal,
  ): Promise<Page<InvitationView>> {
    return mapPage(await this.store.list(query), (row) => this.view(row, key));
  }

  @Get(':id')
  @Operation('onboarding:read', {
    summary: 'Read an invitation',
    description: 'That of an erased user is `not_found`.',
  })
  @ApiOkResponse({ type: InvitationView })
  async readInvitation(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal) {
    return this.view(found(await this.store.find(id), `invitation ${id}`), key);
  }

  @Post(':id/link')
  @HttpCode(200)
  @Operation([], {
    anyScope: ['invitations:write', 'links:read'],
    command: 'invitations link',
    summary: 'Read the link of one invitation',
    description:
      `For a person who gives it to the owner. Each time is in the audit log. A key without \`links:read\` reads at most ${LINKS_PER_HOUR} ` +
      'links an hour, so that nobody collects them.',
  })
  @ApiOkResponse({ type: InvitationLinkView })
  async readInvitationLink(
    @Param('id', ParseUuid) id: string,
    @CurrentKey() key: Principal,
  ): Promise<InvitationLinkView> {
    const what = `invitation ${id}`;
    const { state, expiresAt, ...row } = found(await this.store.find(id), what);
    const url = found(this.invitations.urlOf({ ...row, state, expiresAt }), `link of ${what}`);
    const limit = hasScope(key, 'links:read') ? null : LINKS_PER_HOUR;
    if (!(await this.store.recordLinkRead(id, actorOf(key), limit)))
      throw new Problem('too_many_requests', `This key may read ${LINKS_PER_HOUR} links an hour`, {
        retryAfterSeconds: 600,
      });
    return { url, state, expiresAt };
  }

  @Delete(':id')
  @Operation([], {
    anyScope: WRITE_SCOPES_OF_KIND.invitation,
    bulk: true,
    confirm: 'this revokes the invitation {id}. This cannot be undone.',
    summary: 'Revoke an invitation',
    description:
      'Its link then says that it is no longer valid. An invitation that is over stays as it is. The session that the owner may have started stays.',
  })
  @ApiOkResponse({ type: InvitationView })
  async revokeInvitation(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal) {
    await this.store.revoke(id, actorOf(key));
    return this.readInvitation(id, key);
  }

  private view(row: InvitationRow, key: Principal): InvitationView {
    const url = hasScope(key, 'links:read') ? this.invitations.urlOf(row) : null;
    return { ...withoutLink(row, this.stalls), url };
  }
}
