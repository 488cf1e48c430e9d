import { Injectable } from '@nestjs/common';
import { Database, type Sql } from '../platform/database/database.js';
import type { ListPosition } from '../platform/database/list-position.js';
import { whereOf } from '../platform/database/where.js';
import type { FilterOf } from '../platform/http/page.js';
import { ROW_STATUSES, type CampaignStatus, type RowStatus } from './campaign.rules.js';
import type { CampaignRowView, CampaignSummaryView, CampaignView } from './campaign.view.js';
import type { CampaignRowsQuery } from './campaigns.dto.js';
import * as sql from './campaigns.sql.js';

export interface CampaignRow extends Omit<CampaignRowView, 'invitationUrl'> {
  readonly invitationId: string | null;
  /** The cells as sent; empty once they have been erased. */
  readonly fields: readonly string[];
}

interface Counted {
  readonly name: string;
  readonly count: number;
}

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

  async find(id: string): Promise<CampaignSummaryView | null> {
    const text = `${sql.SELECT_CAMPAIGN} WHERE id = $1 AND status <> 'receiving'`;
    return (await this.database.query<CampaignSummaryView>(text, [id]))[0] ?? null;
  }

  /** Returns the campaign with the counts of its rows, which take some milliseconds for 100,000 rows. */
  async findWithCounts(id: string): Promise<Omit<CampaignView, 'summary' | 'remainingSeconds'> | null> {
    const campaign = await this.find(id);
    if (campaign === null) return null;
    const [rate] = await this.database.query<{ perSecond: number | null }>(sql.SELECT_RATE, [id]);
    const problems = await this.database.query<Counted>(sql.COUNT_PROBLEMS, [id]);
    return {
      ...campaign,
      counts: await countRows(this.database, id),
      problems: byName(problems),
      perSecond: rate?.perSecond ?? null,
    };
  }

  /** Returns rows after a line, in the order of the file. */
  async rows(
    id: string,
    { status, problem }: FilterOf<CampaignRowsQuery>,
    after: string,
    limit: number,
  ): Promise<CampaignRow[]> {
    const stored = status === 'accepted' ? ['accepted', 'sent'] : status && [status];
    const { where, values } = whereOf([
      ['campaign_id = ?', id],
      ['status = ANY (?)', stored],
      [`problems <> '[]' AND problems @> ?::jsonb`, problem && JSON.stringify([{ code: problem }])],
      ['line > ?', after],
    ]);
    const text = `${sql.SELECT_ROWS} ${where} ORDER BY line LIMIT ${limit}`;
    return this.database.query<CampaignRow>(text, values);
  }
}

/** Returns the number of rows in each status. */
export async function countRows(database: Sql, id: string): Promise<Record<RowStatus, number>> {
  const none = Object.fromEntries(ROW_STATUSES.map((status) => [status, 0])) as Record<RowStatus, number>;
  return { ...none, ...byName(await database.query<Counted>(sql.COUNT_ROWS, [id])) };
}

const byName = (counted: readonly Counted[]) =>
  Object.fromEntries(counted.map(({ name, count }) => [name, count]));
