import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { ListPosition } from '../platform/database/list-position.js';
import { whereOf } from '../platform/database/where.js';
import type { CampaignStatus } from './campaign.rules.js';
import type { CampaignSummaryView } from './campaign.view.js';
import * as sql from './campaigns.sql.js';

@Injectable()
export class CampaignsStore {
  constructor(private readonly database: Database) {}

  async list(
    status: CampaignStatus | undefined,
    after: ListPosition | undefined,
    limit: number,
  ): Promise<CampaignSummaryView[]> {
    const { where, values } = whereOf([
      [`status <> 'receiving'`],
      ['status = ?', status],
      ['(created_at, id) < (?, ?::uuid)', after?.at, after?.id],
    ]);
    const text = `${sql.SELECT_CAMPAIGN} ${where} ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
    return this.database.query<CampaignSummaryView>(text, values);
  }
}
