import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { renderSVG } from 'uqr';
import { CurrentKey, Operation } from '../access/operation.decorator.js';
import { actorOf, hasScope, type Principal } from '../access/scopes.js';
import { ApiPage, mapPage } from '../platform/http/page.js';
import { ParseUuid } from '../platform/http/parameters.js';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import { LOCATION } from '../platform/openapi/response-headers.js';
import { found, Problem } from '../platform/problem/problem.js';
import { StallViews } from '../stalls/stall-views.service.js';
import { StallsStore } from '../stalls/stalls.store.js';
import { InvitationCodeView, InvitationLinkView, InvitationView } from './invitation.view.js';
import { InvitationChange, InvitationMessage, NewInvitation } from './invitations.dto.js';
import { InvitationsQuery } from './invitations.list.js';
import { InvitationsService } from './invitations.service.js';
import { CODE_MINUTES } from './owner/link-codes.rules.js';
import { LinkCodesStore } from './owner/link-codes.store.js';
import {
  InvitationsStore,
  withoutLink,
  type InvitationRow,
  type LinkForm,
  type LinkReader,
} from './invitations.store.js';
import { Query } from '../platform/http/query.decorator.js';

/** A person on the telephone reads some ten an hour. */
const LINKS_PER_HOUR = 100;
const LINK_SCOPES = ['invitations:write', 'links:read'] as const;

/** One of them is enough. */
const WRITE_SCOPES = ['onboarding:write', 'invitations:write'] as const;

@ApiTags('Invitations')
@Controller('invitations')
export class InvitationsController {
  constructor(
    private readonly invitations: InvitationsService,
    private readonly store: InvitationsStore,
    private readonly codes: LinkCodesStore,
    private readonly stalls: StallViews,
    private readonly looks: StallsStore,
  ) {}

  @Post()
  @Operation([], {
    anyScope: WRITE_SCOPES,
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
  async listInvitations(@Query() query: InvitationsQuery, @CurrentKey() key: Principal) {
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
    anyScope: LINK_SCOPES,
    command: 'invitations link',
    summary: 'Read the link of one invitation',
    description:
      `For a person who gives it to the owner. Each time is in the audit log. A key without \`links:read\` reads at most ${LINKS_PER_HOUR} ` +
      'links an hour, so that nobody collects them.',
  })
  @ApiOkResponse({ type: InvitationLinkView })
  async readInvitationLink(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal) {
    return this.readLink(id, key);
  }

  @Get(':id/qr.svg')
  @Operation([], {
    anyScope: LINK_SCOPES,
    command: 'invitations qr',
    summary: 'Read the link of one invitation as a QR code',
    description: 'For letters. An image in SVG. Audited and limited as `POST /invitations/{id}/link`.',
  })
  @ApiProduces('image/svg+xml')
  @ApiOkResponse({ content: { 'image/svg+xml': { schema: { type: 'string' } } } })
  async readInvitationQrCode(
    @Param('id', ParseUuid) id: string,
    @CurrentKey() key: Principal,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { url } = await this.readLink(id, key, 'qr');
    const image = renderSVG(url, { ecc: 'M', border: 4 });
    void reply.headers({ 'content-type': 'image/svg+xml', 'cache-control': 'no-store' }).send(image);
  }

  @Post(':id/code')
  @HttpCode(200)
  @Operation([], {
    anyScope: LINK_SCOPES,
    command: 'invitations code',
    summary: 'Create a code that leads to the link once, to be read out',
    description:
      `Eight letters, for an owner on the telephone, who enters them within ${CODE_MINUTES} minutes at \`enterAt\`. A new code ends the one ` +
      'before. Audited and limited as `POST /invitations/{id}/link`. Not for an invitation that is over.',
  })
  @ApiOkResponse({ type: InvitationCodeView })
  @ApiProblems('invitation_conflict')
  async createInvitationCode(
    @Param('id', ParseUuid) id: string,
    @CurrentKey() key: Principal,
  ): Promise<InvitationCodeView> {
    const { state } = await this.linkOf(id);
    const created = await this.codes.create(id, readerOf(key));
    if (created === null) throw new Problem('invitation_conflict', `The invitation is over: it is ${state}`);
    return InvitationCodeView.of({ ...created, enterAt: this.invitations.codePage });
  }

  @Patch(':id')
  @Operation([], {
    anyScope: WRITE_SCOPES,
    bulk: true,
    summary: 'Change an invitation, whose link stays',
    description:
      'What is absent stays. An invitation that is revoked, online or of an erased user cannot be changed, and one that has expired ' +
      'only together with `expiresAt`.',
  })
  @ApiOkResponse({ type: InvitationView })
  @ApiProblems('invitation_conflict')
  async changeInvitation(
    @Param('id', ParseUuid) id: string,
    @Body() input: InvitationChange,
    @CurrentKey() key: Principal,
  ): Promise<InvitationView> {
    await this.invitations.change(id, input, actorOf(key));
    return this.readChanged(id, key);
  }

  @Post(':id/reminders')
  @HttpCode(200)
  @Operation([], {
    anyScope: WRITE_SCOPES,
    bulk: true,
    command: 'invitations remind',
    summary: 'Have the owner reminded now',
    description:
      'Appends `invitation.reminder_due` at once, so that your own program sends the message. It counts as one of the schedule, whose ' +
      'next reminder is due 24 hours later at the earliest. At most once an hour for each invitation, also after one of the schedule. ' +
      'Not for an invitation that is over, or whose owner has nothing to do.',
  })
  @ApiOkResponse({ type: InvitationView })
  @ApiProblems('invitation_conflict')
  async remindOwner(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal) {
    await this.invitations.remind(id, actorOf(key));
    return this.readChanged(id, key);
  }

  @Post(':id/messages')
  @HttpCode(200)
  @Operation([], {
    anyScope: WRITE_SCOPES,
    command: 'invitations message',
    summary: 'Record that a message with the link was sent, or has come back',
    description:
      'Called by the program that sends your mail, in any order and as often as it likes, also about an invitation that is over. While the last message ' +
      'has come back and the owner has to act, the invitation is stalled as `unreachable`; a later `sent` ends that.',
  })
  @ApiOkResponse({ type: InvitationView })
  async recordInvitationMessage(
    @Param('id', ParseUuid) id: string,
    @Body() message: InvitationMessage,
    @CurrentKey() key: Principal,
  ): Promise<InvitationView> {
    await this.invitations.recordMessage(id, message, actorOf(key));
    return this.readChanged(id, key);
  }

  @Post(':id/withdrawal')
  @HttpCode(200)
  @Operation([], {
    anyScope: WRITE_SCOPES,
    command: 'invitations withdraw',
    confirm:
      'this records that the owner withdraws the consent of the invitation {id}, and of every other one of its location. Only the owner can give it again.',
    summary: 'Record that the owner has withdrawn the consent',
    description:
      'As the owner has told you by telephone or letter; on the page, the owner does it alone. It counts for every invitation of the ' +
      'location that has a consent. A repetition does nothing. No reminder is sent any more, and only another consent starts something. No session ends by that: while the installation may be accessed, the invitation ' +
      'is stalled as `consent_withdrawn`, until you revoke it after the provider has disconnected the installation.',
  })
  @ApiOkResponse({ type: InvitationView })
  @ApiProblems('invitation_conflict')
  async withdrawConsent(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal) {
    found(await this.store.find(id), `invitation ${id}`);
    await this.invitations.withdrawConsent(id, actorOf(key));
    return this.readChanged(id, key);
  }

  @Delete(':id')
  @Operation([], {
    anyScope: WRITE_SCOPES,
    bulk: true,
    confirm: 'this revokes the invitation {id}. This cannot be undone.',
    summary: 'Revoke an invitation',
    description:
      'Its link then says that it is no longer valid. An invitation that is over stays as it is, unless its owner has withdrawn the consent. The session that the owner may have started stays.',
  })
  @ApiOkResponse({ type: InvitationView })
  async revokeInvitation(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal) {
    await this.store.revoke(id, actorOf(key));
    return this.readChanged(id, key);
  }

  private async readChanged(id: string, key: Principal): Promise<InvitationView> {
    await this.looks.lookNow('invitation', id);
    return this.readInvitation(id, key);
  }

  /** Returns a link, and records who reads it. Throws Problem not_found or too_many_requests. */
  private async readLink(id: string, key: Principal, as?: LinkForm): Promise<InvitationLinkView> {
    const link = await this.linkOf(id);
    await this.store.recordLinkRead(id, readerOf(key), as);
    return link;
  }

  /** Throws Problem not_found. */
  private async linkOf(id: string): Promise<InvitationLinkView> {
    const what = `invitation ${id}`;
    const row = found(await this.store.find(id), what);
    const url = found(this.invitations.urlOf(row), `link of ${what}`);
    return InvitationLinkView.of({ url, state: row.state, expiresAt: row.expiresAt });
  }

  private view(row: InvitationRow, key: Principal): InvitationView {
    const url = hasScope(key, 'links:read') ? this.invitations.urlOf(row) : null;
    const { remindedAt } = row;
    const nextReminderAt = this.invitations.nextReminderAt(row);
    return InvitationView.of({ ...withoutLink(row, this.stalls), remindedAt, nextReminderAt, url });
  }
}

const readerOf = (key: Principal): LinkReader => ({
  actor: actorOf(key),
  limit: hasScope(key, 'links:read') ? null : LINKS_PER_HOUR,
});
