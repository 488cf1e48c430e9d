import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient } from '../../setup/client.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { createTestDatabase } from '../../setup/database/test-database.js';
import { startWebhookReceiver } from '../../setup/receivers/webhook-receiver.js';
import { startTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import {
  startStatementProxy,
  type Sent,
  type StatementFault,
  type StatementProxy,
} from './network/statement-proxy.js';
import type { Flow, World } from './outcome-flows.js';
import { isLong } from './promise.js';

const WITHIN_MS = 45_000;
/**
 * The timeout of a remote call. A machine that runs other tests, too, may stop a process for seconds: a registration that is sent meanwhile
 * is uncertain after a shorter timeout.
 */
const TIMEOUT_MS = isLong ? 1_500 : 10_000;

interface Options {
  readonly prepare?: (app: NestFastifyApplication) => void;
  readonly SCS_TIMEOUT_MS?: number;
  /** Replaces the default of 4 s. */
  readonly outcomeResponseWithinMs?: number;
  /** Replaces the default of 16 s. */
  readonly responseWithinMs?: number;
}

/** A service whose connections to its database lead through a proxy, anew for each test of the file. */
export class ServiceBehindProxy {
  proxy!: StatementProxy;
  world!: World;
  /** The connections of the service. */
  pool!: Database['pool'];
  private readonly closing = closeAfterEach();

  constructor() {
    beforeEach(async () => {
      const testDatabase = await createTestDatabase();
      this.closing.push(testDatabase.drop);
      this.proxy = await startStatementProxy(testDatabase.url);
      this.closing.push(this.proxy.close);
      const receiver = await startWebhookReceiver();
      this.closing.push(receiver.close);
      this.world = { receiver, database: testDatabase.open() } as unknown as World;
    });
  }

  async start({ prepare, SCS_TIMEOUT_MS = TIMEOUT_MS, ...limits }: Options = {}): Promise<void> {
    const service = await startTestApp(
      {
        DATABASE_URL: this.proxy.url,
        // Long enough that results are written under the lease, one by one after an error, even on a slow machine.
        POLL_LEASE_MS: SCS_TIMEOUT_MS + 3_500,
        SCS_TIMEOUT_MS,
        DATABASE_POOL_SIZE: 20,
        WEBHOOK_ALLOW_PRIVATE_ADDRESSES: true,
      },
      {
        prepare: (app) => {
          const database = app.get(Database);
          this.pool = database.pool;
          database.outcomeResponseWithinMs =
            limits.outcomeResponseWithinMs ?? database.outcomeResponseWithinMs;
          database.pool.options.query_timeout =
            limits.responseWithinMs ?? database.pool.options.query_timeout;
          prepare?.(app);
        },
      },
    );
    this.closing.push(service.close);
    this.world = { ...this.world, client: TestClient.of(service), control: service.sandbox!.control };
    // Retries, because a statement on a busy machine may take longer than shortened limits.
    const locate = () => this.world.client.locate().catch(() => null);
    await waitFor('the token to be obtained', async () => (await locate()) !== null);
  }

  /** Prepares a flow, once the server has ended the transactions of earlier silent connections. */
  prepare(flow: Flow) {
    return waitFor(`${flow.name} is prepared`, () => flow.prepare(this.world), WITHIN_MS);
  }

  /** Prepares flows, and returns a function that runs them together and returns what they found. */
  async prepareAll(...flows: readonly Flow[]): Promise<() => Promise<string[]>> {
    const prepared = await Promise.all(flows.map((flow) => this.prepare(flow)));
    return async () => (await Promise.all(prepared.map(({ run }) => run(WITHIN_MS)))).flat();
  }

  /**
   * Runs a flow with a fault at a statement. Returns what the flow found; null if the statement was not sent. `isOf` returns a condition for
   * the statements of one run, by the id of the flow.
   */
  async findAfter(
    flow: Flow,
    isOf: (id: string) => (sent: Sent) => boolean,
    fault: StatementFault,
    withinMs = WITHIN_MS,
  ): Promise<string[] | null> {
    const { id, run } = await this.prepare(flow);
    const hasOccurred = this.proxy.fail(isOf(id), fault);
    const isOver = sleep(withinMs, ['lost: a request is not over'], { ref: false });
    const found = await Promise.race([
      run(withinMs).catch((error: Error) => [`lost: ${error.message}`]),
      isOver,
    ]);
    return hasOccurred() ? found : null;
  }
}
