/**
 * - `receiving`: the file is being uploaded or checked. Nobody sees the campaign, and it is deleted if the upload fails.
 * - `checked`: a dry run. Its rows are never registered.
 * - `running`: rows are registered.
 * - `paused`: no further row is registered until a person resumes the campaign.
 * - `cancelled`: no further row is registered. What had been sent still gets its result.
 * - `finished`: every row has a result.
 */
export const STORED_STATUSES = [
  'receiving',
  'checked',
  'running',
  'paused',
  'cancelled',
  'finished',
] as const;

/** The statuses that the API shows. */
export const CAMPAIGN_STATUSES = ['checked', 'running', 'paused', 'cancelled', 'finished'] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

/**
 * The statuses of a row that the API shows. A row that is part of a pending registration has the status `sent` in the database, and is
 * shown as `accepted`.
 */
export const ROW_STATUSES = [
  'accepted',
  'invalid',
  'registered',
  'known',
  'rejected',
  'uncertain',
  'cancelled',
] as const;
export type RowStatus = (typeof ROW_STATUSES)[number];
export type StoredRowStatus = RowStatus | 'sent';

/** What was detected in a file. */
export interface CampaignFormat {
  readonly type: 'csv' | 'ndjson';
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  /** Whether the file begins with a byte order mark. */
  readonly bom: boolean;
  /** Null for NDJSON. */
  readonly delimiter: ',' | ';' | '\t' | '|' | null;
  /** The names of the columns as sent, in their order; of NDJSON, the names that are read. */
  readonly columns: readonly string[];
}
