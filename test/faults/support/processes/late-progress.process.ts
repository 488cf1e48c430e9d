import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AuthorisedRemote } from '../../../../src/auth/authorised-remote.service.js';
import { requestsOf, type TakenRow } from '../../../../src/campaigns/drain/drain.rules.js';
import { TAKE_NEXT } from '../../../../src/campaigns/drain/drain.sql.js';
import { DrainStore } from '../../../../src/campaigns/drain/drain.store.js';
import { registerUserRequest } from '../../../../src/users/remote/users.client.js';
import { runService } from './test-service.js';

/** Registers the users of rows, and only then records that the rows were sent. */
function recordProgressAfterCalls(app: NestFastifyApplication): void {
  const remote = app.get(AuthorisedRemote);
  app.get(DrainStore).take = async (tx, id) => {
    const rows = await tx.query<TakenRow>(TAKE_NEXT, [id, 8]);
    await Promise.all(
      requestsOf(rows).map((request) =>
        remote.send({ ...registerUserRequest(request), priority: 'background' }, 'tenant'),
      ),
    );
    const lines = rows.map(({ line }) => line);
    await tx.query(
      `UPDATE campaign_rows SET status = 'rejected' WHERE campaign_id = $1 AND line = ANY ($2)`,
      [id, lines],
    );
    return rows.length;
  };
}

const url = await runService({ prepare: recordProgressAfterCalls });
process.send?.({ type: 'ready', url });
