import { applyDecorators, Controller, Delete, HttpCode, Param, Post } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentKey } from '../../access/current-key.decorator.js';
import { Operation } from '../../access/operation.decorator.js';
import { actorOf, type Principal } from '../../access/scopes.js';
import { ParseUuid } from '../../platform/http/uuid.pipe.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import { found } from '../../platform/problem/found.js';
import { Problem } from '../../platform/problem/problem.js';
import { CampaignProgress } from '../campaign-progress.service.js';
import { CONTROLS, type Control } from '../campaign.rules.js';
import { CampaignView } from '../campaign.view.js';
import { DrainStore } from './drain.store.js';

@ApiTags('Campaigns')
@Controller('campaigns')
export class CampaignControlController {
  constructor(
    private readonly store: DrainStore,
    private readonly progress: CampaignProgress,
  ) {}

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
  )
  cancelCampaign(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal): Promise<CampaignView> {
    return this.control(id, 'cancel', key);
  }

  @Delete(':id')
  @HttpCode(204)
  @Operation('users:write', {
    summary: 'Delete a campaign that has ended, or a dry run',
    description:
      'With its rows and their personal data, at once. Users, registrations and invitations stay. Cancel a campaign first that runs or is paused; once what had been sent has its result, it has ended.',
  })
  @ApiNoContentResponse({ description: 'Deleted' })
  @ApiProblems('campaign_conflict')
  async deleteCampaign(@Param('id', ParseUuid) id: string, @CurrentKey() key: Principal): Promise<void> {
    if (await this.store.delete(id, actorOf(key))) return;
    const { status } = found(await this.progress.find(id), `campaign ${id}`);
    throw new Problem(
      'campaign_conflict',
      `A campaign can be deleted once it has ended; this one is ${status}`,
    );
  }

  private async control(id: string, control: Control, key: Principal): Promise<CampaignView> {
    await this.store.control(id, control, actorOf(key));
    const campaign = found(await this.progress.find(id), `campaign ${id}`);
    const { from, to } = CONTROLS[control];
    if (campaign.status === to) return campaign;
    const detail = `${control} is for the statuses ${from.join(', ')}; this campaign is ${campaign.status}`;
    throw new Problem('campaign_conflict', detail);
  }
}

function Controls(control: Control, summary: string, description: string): MethodDecorator {
  return applyDecorators(
    Post(`:id/${control}`),
    HttpCode(200),
    Operation('users:write', { summary, description: `${description} May be repeated.` }),
    ApiOkResponse({ type: CampaignView }),
    ApiProblems('campaign_conflict'),
  );
}
