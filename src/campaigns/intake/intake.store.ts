import { Injectable } from '@nestjs/common';
import { IdempotencyKeys } from '../../idempotency/idempotency-keys.store.js';
import { recordAudit } from '../../access/audit-log.store.js';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Database, prepared, type Transaction } from '../../platform/database/database.js';
import { msFromNow } from '../../platform/database/timestamps.js';
import { MAX_GRID_LOCATIONS } from '../../users/ean.rules.js';
import { ERASED_REFERENCE } from '../../users/user/erase-user.sql.js';
import type { CampaignFormat } from '../campaign.rules.js';
import { checkAdoption } from '../adoption/adoption.store.js';
import { notifying } from '../drain/drain.sql.js';
import * as checks from './check.sql.js';
import { ROUNDED_TOO } from './ean-cell.rules.js';
import type { ColumnName, Mapping } from './headers.rules.js';
import type { ReadRow } from './row.rules.js';

/** After this time without a set of rows, an upload counts as dead. A connection without input is closed much earlier. */
const DEAD_AFTER_MS = 3_600_000;

/** Only a file with more rows is analysed, since any plan checks fewer rows within milliseconds. */
const ROWS_TO_ANALYZE = 1_000;

/** The number of references that are hashed at once. Their hashing delays other requests by a few milliseconds. */
const ROWS_PER_HASHING = 500;

/** Inserts a campaign that is being received. Its format is known only at the end of the file. */
const INSERT_CAMPAIGN = `
    INSERT INTO campaigns (id, name, invites, adopts, format, due_at) VALUES ($1, $2, $3, $4, '{}', ${msFromNow('$5')})`;

/** Inserts rows given as a JSON array, and sets `due_at` as a heartbeat of the upload. */
const INSERT_ROWS = prepared('campaigns.insert_rows')`
    WITH alive AS (UPDATE campaigns SET due_at = ${msFromNow('$3')} WHERE id = $1 AND status = 'receiving')
    INSERT INTO campaign_rows (campaign_id, line, status, tenant_reference, ean, brand, locale, expected_inverters, metadata, fields, problems, adoption)
    SELECT $1, line, status, "tenantReference", ean, brand, locale, "expectedInverters", metadata, fields, problems, adoption
      FROM jsonb_to_recordset($2::jsonb) AS sent (line int, status text, "tenantReference" text, ean text, brand text, locale text,
             "expectedInverters" int, metadata jsonb, fields jsonb, problems jsonb, adoption jsonb)`;

const FINISH_INTAKE = notifying(`
    UPDATE campaigns SET status = $2, rows = $3, format = $4, due_at = clock_timestamp(),
           finished_at = CASE $2 WHEN 'checked' THEN clock_timestamp() END
     WHERE id = $1 AND status = 'receiving'`);

/** Deletes an upload that has failed, with its rows. */
const DELETE_UPLOAD = `DELETE FROM campaigns WHERE id = $1 AND status = 'receiving'`;

/** Deletes the uploads whose heartbeats have stopped, since their processes have died. */
const DELETE_DEAD_UPLOADS = `DELETE FROM campaigns WHERE status = 'receiving' AND due_at < clock_timestamp()`;

export interface CampaignOptions {
  readonly name: string | null;
  readonly isDryRun: boolean;
  readonly invites: boolean;
  readonly adopts: boolean;
  /** Whether the references of the file are right although they look rounded. */
  readonly areReferencesConfirmed: boolean;
  /** The encoding of the file. Null: it is detected. */
  readonly encoding: CampaignFormat['encoding'] | null;
  readonly mapping: Mapping;
}

/** An upload whose last row is stored. */
interface ReceivedFile extends CampaignOptions {
  readonly format: CampaignFormat;
  /** Returns the name that a field has in the file. */
  readonly nameOf: (field: ColumnName) => string;
  readonly rows: number;
  /** The lines whose EANs are rounded although their check digits fit. */
  readonly roundedLines: readonly number[];
  readonly actor: string;
  /** What two uploads of the same file with the same options have in common. */
  readonly recognisedBy: object;
}

@Injectable()
export class IntakeStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly idempotencyKeys: IdempotencyKeys,
  ) {}

  async begin(id: string, { name, invites, adopts }: CampaignOptions): Promise<void> {
    await this.database.query(INSERT_CAMPAIGN, [id, name, invites, adopts, DEAD_AFTER_MS]);
  }

  async insert(id: string, rows: readonly ReadRow[]): Promise<void> {
    await this.database.query(INSERT_ROWS, [id, JSON.stringify(rows), DEAD_AFTER_MS]);
  }

  /**
   * Checks all rows together and turns the upload into a campaign in one transaction, so that nobody sees unchecked rows. Returns the id of
   * the campaign: that of the first upload if the request repeats it.
   */
  async finish(id: string, file: ReceivedFile): Promise<string> {
    // Ignores a failure, for example because another process has locked the table: without statistics, the checks only take longer.
    if (file.rows > ROWS_TO_ANALYZE) await this.database.query(checks.ANALYZE_ROWS).catch(() => {});
    const finished = await this.idempotencyKeys.onceWith(file.recognisedBy, async (tx) => {
      await this.checkRows(tx, id, file);
      return { id };
    });
    return finished.id;
  }

  private async checkRows(
    tx: Transaction,
    id: string,
    { isDryRun, invites, adopts, format, nameOf, rows, roundedLines, actor }: ReceivedFile,
  ): Promise<void> {
    const eanColumn = adopts ? 'user.gridLocations' : nameOf('ean');
    if (roundedLines.length > 0)
      await tx.query(checks.MARK_ROUNDED, [id, roundedLines, eanColumn, ROUNDED_TOO]);
    if (adopts) {
      await checkAdoption(tx, id, isDryRun);
    } else {
      await tx.query(checks.UNIFY_BRANDS, [id, nameOf('brand')]);
      await tx.query(checks.MARK_DUPLICATES, [id]);
      await tx.query(checks.MARK_TOO_MANY_EANS, [id, MAX_GRID_LOCATIONS]);
      await tx.query(checks.MARK_OTHER_ROWS, [id]);
      await tx.query(checks.COMPARE_WITH_REGISTRATIONS, [id, isDryRun]);
      await tx.query(checks.WARN_SHARED, [id, nameOf('tenantReference')]);
    }
    await tx.query(checks.WARN_ELSEWHERE, [id, eanColumn]);
    const referenceColumn = nameOf('tenantReference');
    await tx.query(checks.WARN_ALIKE, [id, referenceColumn]);
    await this.warnOfErased(tx, id, referenceColumn);
    await tx.query(checks.WARN_DECLINED, [id]);
    const values = [id, isDryRun ? 'checked' : 'running', rows, JSON.stringify(format)];
    const ended = await tx.query(FINISH_INTAKE, values);
    if (ended.length === 0) throw new Error(`the upload ${id} was deleted before its end`);
    const details = { dryRun: isDryRun, invite: invites, adopt: adopts };
    await recordAudit(tx, { actor, action: 'campaign.created', target: id, details });
  }

  private async warnOfErased(tx: Transaction, id: string, column: string): Promise<void> {
    const erasures = await tx.query('SELECT FROM erasures LIMIT 1');
    if (erasures.length === 0) return;
    const findAfter = (line: number) =>
      tx.query<{ line: number; folded: string }>(checks.SELECT_FOLDED, [id, line, ROWS_PER_HASHING]);
    for (let rows = await findAfter(0); rows.length > 0; rows = await findAfter(rows.at(-1)!.line)) {
      const hashes = rows.flatMap(({ line, folded }) =>
        this.cipher.hashes(folded, ERASED_REFERENCE).map((hash) => ({ line, hash })),
      );
      const values = [hashes.map(({ line }) => line), hashes.map(({ hash }) => hash)];
      await tx.query(checks.WARN_ERASED, [id, column, ...values]);
    }
  }

  async delete(id: string): Promise<void> {
    await this.database.query(DELETE_UPLOAD, [id]);
  }

  /** Deletes the uploads of processes that died during them. */
  async deleteDead(): Promise<void> {
    await this.database.query(DELETE_DEAD_UPLOADS);
  }
}
