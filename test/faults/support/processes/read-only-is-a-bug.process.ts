import { Database } from '../../../../src/platform/database/database.js';
import { sqlState } from '../../../../src/platform/database/sql-state.js';
import { HandledEventsModule } from './handled-events.js';
import { runService } from './test-service.js';

/** Hides the SQLSTATE of a read-only server. */
function hideReadOnly(error: unknown): never {
  throw sqlState(error) === '25006' ? new Error('cannot write') : error;
}

// The bug: the error of a read-only server is not recognised as one of an unavailable database.
const url = await runService({
  modules: [HandledEventsModule],
  prepare: (app) => {
    const database = app.get(Database);
    const query = database.query.bind(database);
    const transaction = database.transaction.bind(database);
    database.query = (statement, values) => query<never>(statement, values).catch(hideReadOnly);
    database.transaction = (work) => transaction(work).catch(hideReadOnly);
  },
});
process.send?.({ type: 'ready', url });
