import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SELECT_DUE } from '../../../src/onboarding/poll/polls.sql.js';
import { changeStatement } from './changed-statement.js';

/** Seeds the bug of R41 and R42: claims the oldest due first, whatever its interval. */
export function claimOldestFirst(app: NestFastifyApplication): void {
  const [byLanes] = SELECT_DUE.text.match(/WITH fresh.+?(?=\n\s+SELECT\s+p\.session_id)/s) ?? [''];
  changeStatement(
    app,
    SELECT_DUE,
    byLanes,
    `WITH fresh AS MATERIALIZED (SELECT * FROM session_polls WHERE $1::int IS NULL), latest AS MATERIALIZED (
       SELECT * FROM session_polls q
        WHERE q.due_at <= (SELECT now()) AND (q.batch_id IS NULL OR q.batch_id <> ALL (ARRAY(SELECT id FROM poll_batches)))
        ORDER BY q.due_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  );
}
