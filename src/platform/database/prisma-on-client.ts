import { AsyncLocalStorage } from 'node:async_hooks';
import type { SqlDriverAdapter, Transaction as AdapterTransaction } from '@prisma/driver-adapter-utils';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient, type Prisma } from './generated/client.js';
import type { TransactionConnection } from './transaction-connection.js';

/** The longest delay of setTimeout. Disables Prisma's transaction timeouts, since each statement already has a timeout. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Prisma Client without its `$` methods: raw SQL goes through `query`. */
export type PrismaModels = Omit<
  Prisma.TransactionClient,
  Extract<keyof Prisma.TransactionClient, `$${string}` | symbol>
>;

type Timed = <T>(text: string, run: () => Promise<T>) => Promise<T>;
type Operation = (args?: unknown) => Promise<unknown>;

/** Prisma Client on a pool, or on one client of the pool. The caller begins and ends the transaction of that client. */
export class PrismaOnPool {
  readonly prisma: PrismaClient;
  /** The client on which the adapter must run the `$transaction` of the current async context. */
  private readonly client = new AsyncLocalStorage<TransactionConnection>();

  constructor(
    pool: pg.Pool,
    private readonly timed: Timed,
  ) {
    const factory = new PrismaPg(pool);
    const { provider, adapterName } = factory;
    const connect = async () => this.routed(await factory.connect());
    this.prisma = new PrismaClient({ adapter: { provider, adapterName, connect }, errorFormat: 'minimal' });
  }

  /** Returns a Prisma Client whose queries run on `client`, until `end` is called. */
  onClient(client: TransactionConnection): { readonly prisma: PrismaModels; readonly end: () => void } {
    let end = (): void => {};
    const begin = () =>
      new Promise<Prisma.TransactionClient>((resolve, reject) => {
        const untilEnd = (prisma: Prisma.TransactionClient) => {
          resolve(prisma);
          return new Promise<void>((ended) => (end = ended));
        };
        const limits = { maxWait: NO_TIMEOUT_MS, timeout: NO_TIMEOUT_MS };
        this.client.run(client, () => this.prisma.$transaction(untilEnd, limits)).catch(reject);
      });
    return { prisma: lazily(begin), end: () => end() };
  }

  private routed(adapter: SqlDriverAdapter): SqlDriverAdapter {
    const { queryRaw, executeRaw } = adapter;
    const { timed } = this;
    // `this` is the adapter, or an adapter of `onClient`.
    adapter.queryRaw = function (this: SqlDriverAdapter, query) {
      return timed(query.sql, () => queryRaw.call(this, query));
    };
    adapter.executeRaw = function (this: SqlDriverAdapter, query) {
      return timed(query.sql, () => executeRaw.call(this, query));
    };
    const startTransaction = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolationLevel) => {
      const client = this.client.getStore();
      return client === undefined ? startTransaction(isolationLevel) : onClient(adapter, client);
    };
    return adapter;
  }
}

/** Returns an adapter that runs its queries on `client`. `usePhantomQuery` tells Prisma not to send COMMIT or ROLLBACK. */
const onClient = (adapter: SqlDriverAdapter, client: TransactionConnection): AdapterTransaction =>
  Object.assign(Object.create(adapter) as SqlDriverAdapter, {
    client,
    options: { usePhantomQuery: true },
    commit: async () => {},
    rollback: async () => {},
  });

/** Returns a Prisma Client that calls `begin` at its first query. `begin` takes 0.2 ms of CPU, and most transactions never use Prisma. */
function lazily(begin: () => Promise<Prisma.TransactionClient>): PrismaModels {
  let begun: Promise<Prisma.TransactionClient> | undefined;
  const model = (name: string) =>
    new Proxy(
      {},
      {
        get: (_, operation: string) => async (args?: unknown) => {
          const prisma = (await (begun ??= begin())) as unknown as Record<string, Record<string, Operation>>;
          return prisma[name]?.[operation]?.(args);
        },
      },
    );
  return new Proxy({} as PrismaModels, { get: (_, name: string) => model(name) });
}
