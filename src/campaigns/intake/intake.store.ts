import { Injectable } from '@nestjs/common';
import { recordAudit } from '../../access/audit-log.store.js';
import { Database } from '../../platform/database/database.js';
import { MAX_GRID_LOCATIONS } from '../../users/ean.rules.js';
import type { CampaignFormat } from '../campaign.rules.js';
import { checkAdoption } from '../adoption/adoption.store.js';
import { ANALYZE_ROWS, CHECKS } from './check.sql.js';
import { ROUNDED_TOO } from './ean-cell.rules.js';
import * as sql from './intake.sql.js';
import type { ReadRow } from './row.rules.js';

/** After this time without a set of rows, an upload counts as dead. A connection without input is closed much earlier. */
const DEAD_AFTER_MS = 3_600_000;

/** Fewer rows are checked in milliseconds, however they are compared. */
const ROWS_TO_ANALYZE = 1_000;

export interface NewCampaign {
  readonly id: string;
  readonly name: string | null;
  readonly invites: boolean;
  readonly adopts: boolean;
}

interface ReceivedFile extends Omit<NewCampaign, 'name'> {
  readonly actor: string;
  readonly isDryRun: boolean;
  readonly format: CampaignFormat;
  readonly rows: number;
  readonly eanColumn: string;
}

@Injectable()
export class IntakeStore {
  constructor(private readonly database: Database) {}

  async begin({ id, name, invites, adopts }: NewCampaign): Promise<void> {
    await this.database.query(sql.INSERT_CAMPAIGN, [id, name, invites, adopts, DEAD_AFTER_MS]);
  }

  async insert(id: string, rows: readonly ReadRow[]): Promise<void> {
    await this.database.query(sql.INSERT_ROWS, [id, JSON.stringify(rows), DEAD_AFTER_MS]);
  }

  /** Checks the rows as a whole, and makes a campaign of the upload in the same transaction: nobody sees rows that are not checked. */
  async finish({
    id,
    actor,
    isDryRun,
    invites,
    adopts,
    format,
    rows,
    eanColumn,
  }: ReceivedFile): Promise<void> {
    // Only the time of the checks depends on it, so a lock that another process has does not matter.
    if (rows > ROWS_TO_ANALYZE) await this.database.query(ANALYZE_ROWS).catch(() => {});
    await this.database.transaction(async (tx) => {
      await tx.query(CHECKS.MARK_ROUNDED, [id, ROUNDED_TOO]);
      if (adopts) {
        await checkAdoption(tx, id, isDryRun);
      } else {
        await tx.query(CHECKS.MARK_DUPLICATES, [id]);
        await tx.query(CHECKS.MARK_TOO_MANY_EANS, [id, MAX_GRID_LOCATIONS]);
        await tx.query(CHECKS.MARK_OTHER_ROWS, [id]);
        await tx.query(CHECKS.COMPARE_WITH_REGISTRATIONS, [id, isDryRun]);
      }
      await tx.query(CHECKS.WARN_ELSEWHERE, [id, adopts ? 'user.gridLocations' : eanColumn]);
      const values = [id, isDryRun ? 'checked' : 'running', rows, JSON.stringify(format)];
      const ended = await tx.query(sql.FINISH_INTAKE, values);
      if (ended.length === 0) throw new Error(`the upload ${id} was deleted before its end`);
      const details = { dryRun: isDryRun, invite: invites, adopt: adopts };
      await recordAudit(tx, { actor, action: 'campaign.created', target: id, details });
    });
  }

  async delete(id: string): Promise<void> {
    await this.database.query(sql.DELETE_UPLOAD, [id]);
  }

  async deleteDead(): Promise<void> {
    await this.database.query(sql.DELETE_DEAD_UPLOADS);
  }
}
