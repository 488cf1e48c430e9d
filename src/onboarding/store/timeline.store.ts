import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { TimelineEntryView, TimelinePosition } from '../api/timeline.view.js';

// Cuts times to the milliseconds of a cursor.
const LIST = `
  SELECT * FROM (
    SELECT date_trunc('milliseconds', at) AS at, step, number, kind, summary, details
      FROM admin.session_timeline WHERE session_id = $1
  ) AS entries
   WHERE $2::timestamptz IS NULL OR (at, step, number) > ($2, $3::int, $4::bigint)
   ORDER BY at, step, number LIMIT $5`;

/** Reads what happened to a session, from the view for administrators. */
@Injectable()
export class TimelineStore {
  constructor(private readonly database: Database) {}

  async list(
    sessionId: string,
    after: TimelinePosition | undefined,
    limit: number,
  ): Promise<(TimelineEntryView & TimelinePosition)[]> {
    const values = [sessionId, after?.at ?? null, after?.step ?? null, after?.number ?? null, limit];
    const rows = await this.database.query<TimelineEntryView & TimelinePosition>(LIST, values);
    return rows.map((row) => ({ ...row, details: inCamelCase(row.details) }));
  }
}

const inCamelCase = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      value as unknown,
    ]),
  );
