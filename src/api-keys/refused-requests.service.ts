import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { within } from '../platform/async/within.js';
import { errorText } from '../platform/redaction/error-text.js';
import { stopsWithin } from '../platform/shutdown/limits.js';
import { BackgroundTasks, task } from '../platform/tasks/background-tasks.js';
import { hashIn, mayExist } from '../access/api-keys.store.js';
import { ManagedKeysStore, type Refused } from './managed-keys.store.js';

const STOP_WITHIN_MS = stopsWithin(500);
const REFUSED_STATUSES = [401, 403, 429] as const;
const NONE: Refused = { refused401: 0, refused403: 0, refused429: 0 };
/** The most keys counted separately between two writes, since a client may send a new key each time. Other keys count as unknown. */
const MOST_KEYS = 1_000;
const UNKNOWN = 'unknown';
const ADMINISTRATOR = 'administrator';

/** Counts refused requests by key in memory, so that a refused request costs no statement. Writes and logs the counts each minute. */
@Injectable()
export class RefusedRequests extends BackgroundTasks implements OnModuleInit, OnApplicationShutdown {
  protected readonly tasks = [
    task({ name: 'access.record_refusals', everyMs: 60_000, run: () => this.write() }),
  ];
  /** The key of the map is the hash of an API key, ADMINISTRATOR or UNKNOWN. */
  private counts = new Map<string, Refused>();

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly keys: ManagedKeysStore,
  ) {
    super('could not record refused requests');
  }

  onModuleInit(): void {
    const server = this.host.httpAdapter?.getInstance<FastifyInstance>();
    server?.addHook('onResponse', async (request, reply) => this.note(request, reply));
  }

  /** Counts a response if its status is 401, 403 or 429, and its request had a key. */
  private note({ presentedKey: key, principal }: FastifyRequest, { statusCode }: FastifyReply): void {
    const status = REFUSED_STATUSES.find((each) => each === statusCode);
    if (status === undefined || key === undefined) return;
    const subject = mayExist(key) ? hashIn(key).toString('hex') : UNKNOWN;
    this.add(principal?.id === null ? ADMINISTRATOR : subject, { ...NONE, [`refused${status}`]: 1 });
  }

  /** Adds the counts to the rows of the keys, and logs a line for each key. If it fails, keeps the counts. */
  async write(): Promise<void> {
    const counts = this.counts;
    this.counts = new Map();
    try {
      await this.record(counts);
    } catch (error) {
      for (const [subject, refused] of counts) this.add(subject, refused);
      this.logger.warn(`could not record refused requests: ${errorText(error)}`);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await within(STOP_WITHIN_MS, this.write());
  }

  private add(subject: string, refused: Refused): void {
    const isToldApart = this.counts.has(subject) || this.counts.size < MOST_KEYS;
    const as = isToldApart ? subject : UNKNOWN;
    this.counts.set(as, sum(this.counts.get(as) ?? NONE, refused));
  }

  private async record(counts: ReadonlyMap<string, Refused>): Promise<void> {
    const {
      [ADMINISTRATOR]: byAdministrator,
      [UNKNOWN]: unknown = NONE,
      ...byHash
    } = Object.fromEntries(counts);
    const known = Object.keys(byHash).length === 0 ? [] : await this.keys.addRefusals(byHash);
    for (const { hash, id, name, isRevoked } of known) {
      const message = `requests with the ${isRevoked ? 'revoked key' : 'key'} ${name} are refused`;
      this.logger.warn({ message, keyId: id, ...byHash[hash] });
      delete byHash[hash];
    }
    const others = Object.values(byHash).reduce(sum, unknown);
    if (others !== NONE) this.logger.warn({ message: 'requests with an unknown key are refused', ...others });
    if (byAdministrator)
      this.logger.warn({ message: 'requests with ADMIN_API_KEY are refused', ...byAdministrator });
  }
}

const sum = (a: Refused, b: Refused): Refused => ({
  refused401: a.refused401 + b.refused401,
  refused403: a.refused403 + b.refused403,
  refused429: a.refused429 + b.refused429,
});
