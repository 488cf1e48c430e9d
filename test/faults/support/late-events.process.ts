import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { NewEvent } from '../../../src/events/catalogue.rules.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { KEEP_STARTED_SESSION } from '../../../src/onboarding/start/started-sessions.sql.js';
import { Database, type Statement } from '../../../src/platform/database/database.js';
import { crashAt, isSave, type CrashStep } from './crash-points.js';
import { runService } from './test-service.js';

/** The bug: an event is written when the commit of its fact is known, and not with it. */
function writeEventsAfterCommit(app: NestFastifyApplication): void {
  const database = app.get(Database);
  const commit = database.commit.bind(database);
  database.commit = (statement, values, afterCommit) => {
    if (!isSave(statement)) return commit(statement, values, afterCommit);
    const events = [JSON.parse(String(values.at(-1))) as NewEvent | NewEvent[]].flat();
    // An event is only written with what it is about.
    const ofNothing = events.map((event) => ({ ...event, subject: randomUUID() }));
    const withNone = JSON.stringify(statement === KEEP_STARTED_SESSION ? ofNothing[0] : ofNothing);
    return commit(statement, values.with(-1, withNone), async (sql) => {
      await afterCommit(sql);
      await transaction((tx) => appendEvents(tx, events));
    });
  };
  const transaction = database.transaction.bind(database);
  database.transaction = (work) =>
    transaction(async (tx) =>
      work({
        ...tx,
        query: async <Row>(statement: string | Statement, values?: readonly unknown[]) => {
          if (typeof statement === 'string' || statement.name !== 'events.append')
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
