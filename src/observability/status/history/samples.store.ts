import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { IS_SAMPLE_DUE, READ_HISTORY, WRITE_SAMPLE } from './samples.sql.js';

/** The samples of one step. `figures`: by the names of sampleOf; null if no sample has the figure. */
interface SampleRow {
  readonly at: Date;
  readonly reasons: readonly string[];
  readonly figures: Readonly<Record<string, number | null>>;
}

/** Stores one sample of the status per minute, for 8 days. */
@Injectable()
export class SamplesStore {
  constructor(private readonly database: Database) {}

  /** Returns whether no process has written the sample of this minute. */
  async isDue(): Promise<boolean> {
    const [row] = await this.database.query<{ isDue: boolean }>(IS_SAMPLE_DUE);
    return row!.isDue;
  }

  /** `since`: null for a reason that begins with this sample. */
  async write(
    reasons: readonly { readonly code: string; readonly since: Date | null }[],
    figures: Readonly<Record<string, number | null>>,
  ): Promise<void> {
    const since = Object.fromEntries(reasons.map((reason) => [reason.code, reason.since]));
    await this.database.query(WRITE_SAMPLE, [JSON.stringify(since), JSON.stringify(figures)]);
  }

  /** Returns the samples of the last `hours`, summarised by steps. Steps without a sample are absent. */
  read(hours: number, stepSeconds: number): Promise<SampleRow[]> {
    return this.database.query<SampleRow>(READ_HISTORY, [hours, stepSeconds]);
  }
}
