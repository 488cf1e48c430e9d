import type { Encoding } from '../spreadsheet/encoding.rules.js';

/**
 * The statuses that the API shows. While the file is being uploaded or checked, the status is `receiving` in the database, nobody sees the
 * campaign, and it is deleted if the upload fails.
 * - `checked`: a dry run. Its rows are never registered.
 * - `running`: rows are registered.
 * - `paused`: no further row is registered until a person resumes the campaign.
 * - `cancelled`: no further row is registered. Rows that had been sent still get their results.
 * - `finished`: every row has a result.
 */
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

/** What may separate the cells of a CSV file. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;

/** The detected format of a file. */
export interface CampaignFormat {
  readonly type: 'csv' | 'ndjson';
  readonly encoding: Encoding;
  /** Whether the file begins with a byte order mark. */
  readonly bom: boolean;
  /** Null for NDJSON. */
  readonly delimiter: (typeof DELIMITERS)[number] | null;
  /** The names of the columns as sent, in their order; of NDJSON, the names that are read. */
  readonly columns: readonly string[];
}

/** The actions of a person on a campaign: the statuses in which each is possible, and the status after it. */
export const CONTROLS = {
  pause: { from: ['running'], to: 'paused' },
  resume: { from: ['paused'], to: 'running' },
  cancel: { from: ['running', 'paused'], to: 'cancelled' },
} as const satisfies Record<string, { from: readonly CampaignStatus[]; to: CampaignStatus }>;
export type Control = keyof typeof CONTROLS;

export interface Progress {
  readonly status: CampaignStatus;
  /** The rows without a result. */
  readonly rowsLeft: number;
  /** How many rows got a result per second, in the last seconds. Null: not known, or none did. */
  readonly perSecond: number | null;
  /** The requests per second that all replicas together may send. 0: no limit. */
  readonly requestsPerSecond: number;
}

/**
 * Returns how many seconds a campaign will take, or null if that is unknown: it is not running, or nothing is being sent. Before a rate is
 * measured, assumes that the campaign gets all of the request budget, if there is one.
 */
// The measured rate already reflects the budget and the requests that take precedence over the campaign.
export function remainingSeconds({
  status,
  rowsLeft,
  perSecond,
  requestsPerSecond,
}: Progress): number | null {
  if (status !== 'running') return null;
  const rate = perSecond ?? requestsPerSecond;
  return rate > 0 ? Math.ceil(rowsLeft / rate) : null;
}

/** The problems that a row can have. docs/campaigns.md has a line about each. */
export const ROW_PROBLEMS = [
  'required',
  'reference_invalid',
  'reference_rounded',
  'reference_normalised',
  'reference_alike',
  'reference_shared',
  'reference_erased',
  'owner_declined',
  'ean_invalid',
  'ean_length',
  'ean_rounded',
  'ean_perhaps_rounded',
  'ean_check_digit',
  'ean_elsewhere',
  'ean_in_other_column',
  'brand_invalid',
  'brand_alike',
  'locale_unknown',
  'inverters_invalid',
  'metadata_invalid',
  'json_invalid',
  'too_many_cells',
  'cell_has_rows',
  'row_too_long',
  'duplicate_row',
  'row_contradicts',
  'too_many_eans',
  'reference_conflict',
  'other_row_invalid',
  'registration_rejected',
  'registration_discarded',
  'registration_uncertain',
  'adopt_invalid',
  'adopt_contradicts',
  'session_not_read',
] as const;
export type RowProblemCode = (typeof ROW_PROBLEMS)[number];

/** A problem of a row, in words for the person with the spreadsheet. It never repeats the value of a cell. */
export interface RowProblem {
  /** The name of the column as sent; null if the problem is about the whole row. */
  readonly column: string | null;
  readonly code: RowProblemCode;
  readonly message: string;
}

/** Returns the summary of a file. Counts each row once. */
// A row becomes a conflict or a duplicate only if it has no other problem that makes it invalid.
export function summaryOf(
  counts: Readonly<Record<RowStatus, number>>,
  problems: Readonly<Partial<Record<RowProblemCode, number>>>,
) {
  const { invalid, known, ...others } = counts;
  const conflicts = (problems.reference_conflict ?? 0) + (problems.adopt_contradicts ?? 0);
  const duplicates = problems.duplicate_row ?? 0;
  return {
    new: Object.values(others).reduce((sum, count) => sum + count, 0),
    known,
    conflicts,
    invalid: invalid - conflicts - duplicates,
    duplicates,
  };
}
