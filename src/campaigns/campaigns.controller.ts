import { finished, Readable } from 'node:stream';
import { applyDecorators, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiConsumes,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiProduces,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActiveCallers } from '../access/active-callers.service.js';
import { CurrentKey, Operation } from '../access/operation.decorator.js';
import { actorOf, hasScope, requireScope, type Principal } from '../access/scopes.js';
import { InvitationsService } from '../invitations/invitations.service.js';
import { Environment } from '../platform/env/environment.js';
import { continueBody, FILE_TYPES } from '../platform/http/file-body.js';
import { ApiPage, mapPage, type Page } from '../platform/http/page.js';
import { ParseUuid } from '../platform/http/parameters.js';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import { LOCATION } from '../platform/openapi/response-headers.js';
import { found, Problem } from '../platform/problem/problem.js';
import { CONTROLS, type Control } from './campaign.rules.js';
import { CampaignRowView, CampaignSummaryView, CampaignView } from './campaign.view.js';
import { mappingOf, NewCampaignQuery } from './campaigns.dto.js';
import { CampaignRowsQuery, CampaignsQuery } from './campaigns.list.js';
import { CampaignsStore } from './campaigns.store.js';
import { DrainStore } from './drain/drain.store.js';
import { Intake } from './intake/intake.service.js';
import { bytesOf, refuseUpload, statedEncoding } from './intake/upload.js';
import { CampaignResults } from './result/campaign-results.service.js';
import { resultCsv } from './result/result-csv.js';
import { Query } from '../platform/http/query.decorator.js';

@ApiTags('Campaigns')
@Controller('campaigns')
export class CampaignsController {
  constructor(
    private readonly store: CampaignsStore,
    private readonly drain: DrainStore,
    private readonly intake: Intake,
    private readonly results: CampaignResults,
    private readonly invitations: InvitationsService,
    private readonly callers: ActiveCallers,
    private readonly environment: Environment,
  ) {}

  @Post()
  @Operation(
    'users:write',
    {
      command: 'import',
      summary: 'Upload a file of customers to register',
      description:
        'CSV or NDJSON, one EAN per row; rows of one tenantReference are one customer. The encoding, the separator and the quote are detected. With `dryRun=true`, every row is checked and nobody is registered. A row that cannot be registered does not stop the others. A file that cannot be read to its end is refused as a whole. With `adopt=true`, the rows are users and sessions that exist at the remote service: they are mirrored, and nothing is created there. `invite=true` also needs the scope `onboarding:write`, and `adopt=true` the scope `registrations:decide`.',
    },
    { takesFile: true },
  )
  @ApiConsumes(...FILE_TYPES)
  @ApiBody({ schema: { type: 'string', description: 'The file; in a form, its one file' } })
  @ApiAcceptedResponse({ type: CampaignView, headers: LOCATION })
  @ApiProblems(
    'campaign_empty',
    'campaign_columns',
    'campaign_unreadable',
    'campaign_rounded',
    'replica_busy',
  )
  async createCampaign(
    @Query() query: NewCampaignQuery,
    @CurrentKey() key: Principal,
    @Req() { headers, body }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CampaignView> {
    const { name, dryRun, invite, adopt, referencesConfirmed, encoding, columns } = query;
    if (invite) requireScope(key, 'onboarding:write');
    if (adopt) requireScope(key, 'registrations:decide');
    const { CAMPAIGN_MAX_BYTES } = this.environment;
    refuseUpload(headers, CAMPAIGN_MAX_BYTES);
    if (invite) this.invitations.requireOrigin();
    if (body === undefined) throw new Problem('campaign_empty', 'The file is empty');
    if (!(body instanceof Readable))
      throw new Problem('unsupported_media_type', `Send the file as ${FILE_TYPES.join(', ')}`);
    continueBody(reply);
    const bytes = bytesOf(headers, body, CAMPAIGN_MAX_BYTES);
    const options = {
      name: name ?? null,
      isDryRun: dryRun,
      invites: invite,
      adopts: adopt,
      areReferencesConfirmed: referencesConfirmed,
      encoding: encoding ?? statedEncoding(headers),
      mapping: mappingOf(columns),
    };
    const id = await whileActing(this.callers, key, (over) => {
      // The caller first reads why the upload has ended.
      over.addEventListener('abort', () => reply.raw.once('finish', () => body.destroy()));
      return this.intake.receive(bytes, options, actorOf(key));
    });
    void reply.status(202).header('location', `/api/v1/campaigns/${id}`);
    return this.readCampaign(id);
  }

  @Get()
  @Operation('users:read', {
    columns: { ID: 'id', STATUS: 'status', AGE: 'createdAt', ROWS: 'rows', NAME: 'name:30' },
    summary: 'List campaigns, the newest first',
    description: 'With dry runs. Without files that are still being uploaded.',
  })
  @ApiPage(CampaignSummaryView)
  listCampaigns(@Query() query: CampaignsQuery): Promise<Page<CampaignSummaryView>> {
    return this.store.list(query);
  }

  @Get(':id')
  @Operation('users:read', {
    summary: 'Read a campaign and its progress',
    description:
      '`summary` counts the rows by the result of the check, `counts` by their current status. In a dry run, `accepted` rows are those that would be registered.',
  })
  @ApiOkResponse({ type: CampaignView })
  async readCampaign(@Param('id', ParseUuid) id: string): Promise<CampaignView> {
    return found(await this.store.findWithProgress(id), `campaign ${id}`);
  }

  @Get(':id/rows')
  @Operation('users:read', {
    columns: {
      LINE: 'line',
      STATUS: 'status',
      EAN: 'ean',
      REFERENCE: 'tenantReference:24',
      PROBLEMS: 'problems',
    },
    summary: 'List the rows of a campaign, in the order of the file',
    description: 'With what became of each row, and its problems.',
  })
  @ApiPage(CampaignRowView)
  async listCampaignRows(
    @Param('id', ParseUuid) id: string,
    @Query() query: CampaignRowsQuery,
    @CurrentKey() key: Principal,
  ): Promise<Page<CampaignRowView>> {
    found(await this.store.find(id), `campaign ${id}`);
    const page = await this.store.rows(id, query);
    const items = await this.results.withLinks(page.items, hasScope(key, 'links:read'));
    return mapPage({ ...page, items }, ({ fields: _, invitationId: _id, ...row }) => CampaignRowView.of(row));
  }

  @Get(':id/result.csv')
  @Operation('users:read', {
    command: 'campaigns result',
    summary: 'Download the file with what became of each row',
    description:
      'The columns as sent, then `status`, `problems`, `registrationId`, `userId` and, for a key with `links:read`, `invitationUrl`. UTF-8 with a byte order mark, as Excel needs it; cells that Excel would take for formulas are escaped, and EANs are written so that it shows all digits. The result of a CSV can be corrected and uploaded again.',
  })
  @ApiProduces('text/csv')
  @ApiOkResponse({ content: { 'text/csv': { schema: { type: 'string' } } } })
  async readCampaignResult(
    @Param('id', ParseUuid) id: string,
    @CurrentKey() key: Principal,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { format } = found(await this.store.find(id), `campaign ${id}`);
    const pages = this.results.pages(id, hasScope(key, 'links:read'));
    const stream = this.results.stream(resultCsv(format, pages), actorOf(key));
    // Resets the connection, so that what has arrived does not look like the whole file.
    const unwatch = this.callers.watch(key, () => reply.raw.destroy());
    // Unlike a listener, `finished` also notices that the client has gone already.
    finished(reply.raw, unwatch);
    void reply.headers({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="campaign-${id}.csv"`,
    });
    void reply.send(stream);
  }

  @Controls('pause', 'Pause a campaign', 'No further row is sent. What has been sent still gets its result.')
  pauseCampaign(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal): Promise<CampaignView> {
    return this.control(id, 'pause', key);
  }

  @Controls('resume', 'Resume a paused campaign', 'It continues with the next row.')
  resumeCampaign(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal): Promise<CampaignView> {
    return this.control(id, 'resume', key);
  }

  @Controls(
    'cancel',
    'Cancel a campaign',
    'Rows that have not been sent become `cancelled`, for ever. What has been sent still gets its result.',
    'this cancels the campaign {id}. This cannot be undone.',
  )
  cancelCampaign(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal): Promise<CampaignView> {
    return this.control(id, 'cancel', key);
  }

  @Delete(':id')
  @HttpCode(204)
  @Operation('users:write', {
    confirm: 'this deletes the campaign {id} with its rows. This cannot be undone.',
    summary: 'Delete a campaign that has ended, or a dry run',
    description:
      'With its rows and their personal data, at once. Users, registrations and invitations stay. Cancel a campaign first that runs or is paused; once what had been sent has its result, it has ended.',
  })
  @ApiNoContentResponse({ description: 'Deleted' })
  @ApiProblems('campaign_conflict')
  async deleteCampaign(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal): Promise<void> {
    if (await this.drain.delete(id, actorOf(key))) return;
    const { status } = found(await this.store.find(id), `campaign ${id}`);
    throw new Problem(
      'campaign_conflict',
      `A campaign can be deleted once it has ended and all that was sent has its result; this one is ${status}`,
    );
  }

  private async control(id: string, control: Control, key: Principal): Promise<CampaignView> {
    await this.drain.control(id, control, actorOf(key));
    const campaign = found(await this.store.findWithProgress(id), `campaign ${id}`);
    const { from, to } = CONTROLS[control];
    if (campaign.status === to) return campaign;
    const detail = `${control} is for the statuses ${from.join(', ')}; this campaign is ${campaign.status}`;
    throw new Problem('campaign_conflict', detail);
  }
}

function Controls(control: Control, summary: string, description: string, confirm?: string): MethodDecorator {
  return applyDecorators(
    Post(`:id/${control}`),
    HttpCode(200),
    Operation('users:write', { summary, description: `${description} May be repeated.`, confirm }),
    ApiOkResponse({ type: CampaignView }),
    ApiProblems('campaign_conflict'),
  );
}

/** Runs `work`. Rejects with Problem unauthenticated, and aborts the signal of `work`, once the caller may no longer act. */
async function whileActing<T>(
  callers: ActiveCallers,
  caller: Principal,
  work: (over: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  let unwatch = (): void => {};
  const refused = new Promise<never>((_, reject) => {
    unwatch = callers.watch(caller, (why) => {
      over.abort();
      reject(why);
    });
  });
  try {
    return await Promise.race([work(over.signal), refused]);
  } finally {
    unwatch();
  }
}
