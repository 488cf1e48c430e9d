import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { LOCK_START } from '../../../src/onboarding/start/starts.sql.js';
import { Database } from '../../../src/platform/database/database.js';
import { TransactionConnection } from '../../../src/platform/database/transaction-connection.js';
import { LOCK_FOR_OUTCOME, OPEN_INTENT } from '../../../src/users/registration/registrations.sql.js';
import { TestClient } from '../../setup/client.js';
import { startWebhookReceiver } from '../../setup/receivers/webhook-receiver.js';
import { startTestApp } from '../../setup/test-app.js';
import { createTestDatabase } from '../../setup/database/test-database.js';
import { waitFor } from '../../setup/wait-for.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import {
  decide,
  deliver,
  erase,
  FLOWS,
  register,
  start,
  type Flow,
  type World,
} from '../support/outcome-flows.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import {
  STATEMENT_FAULTS,
  startStatementProxy,
  type StatementFault,
  type StatementProxy,
} from '../support/network/statement-proxy.js';

jest.setTimeout(isLong ? 3_600_000 : 60_000);

/** Replaces the default of 4 s. */
const OUTCOME_RESPONSE_WITHIN_MS = 300;
/** Replaces the default of 16 s. */
const RESPONSE_WITHIN_MS = 1_000;
const WITHIN_MS = 45_000;
/** The limit for the run with the bug: longer than a flow takes if one connection is silent. */
const BUG_WITHIN_MS = 2_500;
/** Statements that the service sends in this time, before the flow, come from background tasks and do not count as part of the flow. */
const BACKGROUND_MS = 3_000;

const closing = closeAfterEach();
let proxy: StatementProxy;
let world: World;

beforeEach(async () => {
  const testDatabase = await createTestDatabase();
  closing.push(testDatabase.drop);
  proxy = await startStatementProxy(testDatabase.url);
  closing.push(proxy.close);
  const receiver = await startWebhookReceiver();
  closing.push(receiver.close);
  world = { receiver, database: testDatabase.open() } as unknown as World;
});

async function startService(prepare: (app: NestFastifyApplication) => void = () => {}): Promise<void> {
  const service = await startTestApp(
    {
      DATABASE_URL: proxy.url,
      POLL_LEASE_MS: 2_000,
      SCS_TIMEOUT_MS: 1_500,
      DATABASE_POOL_SIZE: 20,
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: true,
    },
    {
      prepare: (app) => {
        const database = app.get(Database);
        database.outcomeResponseWithinMs = OUTCOME_RESPONSE_WITHIN_MS;
        database.pool.options.query_timeout = RESPONSE_WITHIN_MS;
        prepare(app);
      },
    },
  );
  closing.push(service.close);
  world = { ...world, client: TestClient.of(service), control: service.sandbox!.control };
  // Retries, because a statement on a busy machine may take longer than the shortened limits.
  const locate = () => world.client.locate().catch(() => null);
  await waitFor('the token to be obtained', async () => (await locate()) !== null);
}

/** Prepares a flow, once the server has ended the transactions of earlier silent connections. */
const prepare = (flow: Flow) => waitFor(`${flow.name} is prepared`, () => flow.prepare(world), WITHIN_MS);

/** Runs a flow without a fault, and returns its statements. */
async function statementsOf(flow: Flow): Promise<string[]> {
  const run = await prepare(flow);
  proxy.forget();
  await sleep(BACKGROUND_MS);
  const background = new Set(proxy.keys().filter((key) => !key.startsWith('BEGIN')));
  proxy.forget();
  expect(await run(WITHIN_MS)).toEqual([]);
  return proxy.keys().filter((key) => !background.has(key));
}

/** Runs a flow with a fault at a statement. Returns what the flow found; null if the flow did not send the statement. */
async function findAfter(
  flow: Flow,
  isIt: (key: string) => boolean,
  fault: StatementFault,
  withinMs = WITHIN_MS,
): Promise<string[] | null> {
  proxy.forget();
  const run = await prepare(flow);
  proxy.forget();
  proxy.fail(isIt, fault);
  const isOver = sleep(withinMs, ['lost: a request is not over'], { ref: false });
  const found = await Promise.race([
    run(withinMs).catch((error: Error) => [`lost: ${error.message}`]),
    isOver,
  ]);
  return proxy.hasFailed() ? found : null;
}

const isOutcomeOf = (statement: { readonly text: string }) => (key: string) => key === statement.text;
const isCommitAfter = (table: string) => (key: string) => key.startsWith('COMMIT') && key.includes(table);

const SOME = [
  { flow: register, isIt: isOutcomeOf(OPEN_INTENT), fault: 'unanswered' },
  { flow: register, isIt: isOutcomeOf(LOCK_FOR_OUTCOME), fault: 'silent' },
  { flow: register, isIt: isCommitAfter('INTO domain_events'), fault: 'unanswered' },
  { flow: start, isIt: isOutcomeOf(LOCK_START), fault: 'silent' },
  { flow: start, isIt: isCommitAfter('session_starts'), fault: 'unanswered' },
  { flow: deliver, isIt: isCommitAfter('webhook_'), fault: 'unanswered' },
  { flow: erase, isIt: isCommitAfter('audit_log'), fault: 'unanswered' },
  { flow: decide, isIt: isCommitAfter('audit_log'), fault: 'unanswered' },
] as const;

describe('R70: silence changes no outcome', () => {
  it('at some statements', async () => {
    await startService();
    for (const { flow, isIt, fault } of SOME) expect(await findAfter(flow, isIt, fault)).toEqual([]);
  });

  itAtLength('at every statement', async () => {
    await startService();
    const findings: string[] = [];
    let cases = 0;
    for (const flow of FLOWS) {
      for (const key of await statementsOf(flow)) {
        for (const fault of STATEMENT_FAULTS) {
          const found = await findAfter(flow, (each) => each === key, fault);
          if (found !== null) cases += 1;
          findings.push(...(found ?? []).map((each) => `${flow.name}, ${fault} at ${key}: ${each}`));
        }
      }
    }
    promise('R70', {
      figure: `${findings.length} outcomes lost, doubled or uncertain in ${cases} cases`,
      bound: '0',
    });
    expect(findings).toEqual([]);
  });

  itAtLength('is red when a ROLLBACK is sent on the silent connection', async () => {
    await startService((app) => {
      const database = app.get(Database);
      database.pool.options.query_timeout = 2 * BUG_WITHIN_MS;
      database.connectionOf = (client, limitMs) => new ObstinateConnection(client, limitMs);
    });
    const found = await findAfter(register, isOutcomeOf(LOCK_FOR_OUTCOME), 'silent', BUG_WITHIN_MS);
    expect(found).toEqual([expect.stringMatching(/^lost: /)]);
  });
});

/** The bug: rolls back on a connection that does not respond, and waits for the response as long as for that of any other statement. */
class ObstinateConnection extends TransactionConnection {
  override async rollBack(): Promise<void> {
    await this.client.query('ROLLBACK').catch(() => {});
    this.client.release(true);
  }
}
