import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Database, type Statement } from '../../../../src/platform/database/database.js';
import { crashAt, type CrashStep } from '../crash-points.js';
import { runService } from './test-service.js';

function writeEventsAfterCommit(app: NestFastifyApplication): void {
  const database = app.get(Database);
  const transaction = database.transaction.bind(database);
  database.transaction = (work) =>
    transaction(async (tx) =>
      work({
        ...tx,
        query: async <Row>(statement: string | Statement, values?: readonly unknown[]) => {
          if (typeof statement === 'string' || statement.name !== 'events.append_events')
            return tx.query<Row>(statement, values);
          tx.afterCommit(async (sql) => void (await sql.query(statement, values)));
          return [];
        },
      }),
    );
}

const url = await runService({
  prepare: (app) => {
    writeEventsAfterCommit(app);
    crashAt(app, process.env.CRASH_STEP as CrashStep, Number(process.env.CRASH_COUNT));
  },
});
process.send?.({ type: 'ready', url });
