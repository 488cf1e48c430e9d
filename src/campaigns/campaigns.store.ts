import { Injectable } from '@nestjs/common';
import { Database, type Sql } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
import { mapPage, type Page } from '../platform/http/page.js';
import { remainingSeconds, ROW_STATUSES, summaryOf, type RowStatus } from './campaign.rules.js';
import { CampaignSummaryView, CampaignView, type CampaignRowView } from './campaign.view.js';
import { CAMPAIGN_ROWS, CAMPAIGNS, type CampaignRowsQuery, type CampaignsQuery } from './campaigns.list.js';
import * as sql from './campaigns.sql.js';

export interface CampaignRow extends Omit<CampaignRowView, 'object' | 'invitationUrl'> {
  readonly invitationId: string | null;
  /** The cells as sent; empty once they have been erased. */
  readonly fields: readonly string[];
}

type Campaign = Omit<CampaignSummaryView, 'object'>;

interface Counted {
  readonly name: string;
  readonly count: number;
}

/** More brands than there are: a longer list is of another column by mistake. */
const MOST_BRANDS = 50;

@Injectable()
export class CampaignsStore {
  constructor(
    private readonly database: Database,
    private readonly environment: Environment,
  ) {}

  async list(query: CampaignsQuery): Promise<Page<CampaignSummaryView>> {
    return mapPage(await CAMPAIGNS.page<Campaign>(this.database, query), CampaignSummaryView.of);
  }

  async find(id: string): Promise<Campaign | null> {
    const text = `${sql.SELECT_CAMPAIGN} WHERE id = $1 AND status <> 'receiving'`;
    return (await this.database.query<Campaign>(text, [id]))[0] ?? null;
  }

  /** Returns the campaign with the counts of its rows, which take some milliseconds for 100,000 rows. */
  async findWithProgress(id: string): Promise<CampaignView | null> {
    const campaign = await this.find(id);
    if (campaign === null) return null;
    const [rate] = await this.database.query<{ perSecond: number | null }>(sql.SELECT_RATE, [id]);
    const problems = byName(await this.database.query<Counted>(sql.COUNT_PROBLEMS, [id]));
    const counts = await countRows(this.database, id);
    const brands = campaign.dryRun
      ? await this.database.query<CampaignView['brands'][number]>(sql.COUNT_BRANDS, [id, MOST_BRANDS])
      : [];
    const perSecond = rate?.perSecond ?? null;
    const requestsPerSecond = this.environment.SCS_MAX_REQUESTS_PER_SECOND;
    const progress = { status: campaign.status, rowsLeft: counts.accepted, perSecond, requestsPerSecond };
    return CampaignView.of({
      ...campaign,
      summary: summaryOf(counts, problems),
      counts,
      problems,
      brands,
      perSecond,
      remainingSeconds: remainingSeconds(progress),
    });
  }

  /** Lists the rows of a campaign, in the order of the file. */
  rows(id: string, query: CampaignRowsQuery): Promise<Page<CampaignRow>> {
    return CAMPAIGN_ROWS.page(this.database, query, ['campaign_id = ?', id]);
  }
}

export async function countRows(database: Sql, id: string): Promise<Record<RowStatus, number>> {
  const none = Object.fromEntries(ROW_STATUSES.map((status) => [status, 0])) as Record<RowStatus, number>;
  return { ...none, ...byName(await database.query<Counted>(sql.COUNT_ROWS, [id])) };
}

const byName = (counted: readonly Counted[]) =>
  Object.fromEntries(counted.map(({ name, count }) => [name, count]));
