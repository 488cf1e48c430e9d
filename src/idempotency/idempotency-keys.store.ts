import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cipher } from '../platform/crypto/cipher.js';
import { encryptedColumn } from '../platform/crypto/re-encryption.store.js';
import { OUTCOME } from '../platform/database/connection/patience.js';
import { Database, prepared, type Sql, type Transaction } from '../platform/database/database.js';
import { Leases, NEVER } from '../platform/database/lease.js';
import { leasesOn } from '../platform/database/lease.sql.js';
import { subjectsOf as subjectsOfPerson, type PersonalData } from '../platform/database/personal-data.js';
import { msFromNow } from '../platform/database/timestamps.js';
import { Problem } from '../platform/problem/problem.js';
import { BackgroundTasks, task } from '../platform/tasks/background-tasks.js';
import { requireActing } from '../access/acting-caller.js';
import { executeAs, REPEATABLE_FOR } from '../access/execution.js';
import {
  currentKeyed,
  hashOfBody,
  subjectsOf,
  type KeyedExecution,
  type RepeatableRequest,
  type StoredResponse,
} from './repeatable-request.js';

const DELETE_EVERY_MS = 10 * 60_000;
/** How long a repetition waits after the process of the first request has died. */
const LEASE_MS = 10_000;
/** How often a repetition asks whether the request of another process has ended: first soon, then seldom, since thousands may wait. */
const CHECK_AGAIN_MS = { first: 50, most: 1_000 };

export const STORED_RESPONSES = encryptedColumn('idempotency_keys', 'response_ciphertext', {
  name: 'id',
  type: 'text',
});

/** A stored response would show an erased person again. Its key stays, so that a repetition does not register the person again. */
export const REPEATABLE_REQUESTS: PersonalData = {
  table: 'idempotency_keys',
  where: 't.subjects && $1::text[]',
  order: 't.id',
  parameter: subjectsOfPerson,
  columns: '(SELECT c FROM (SELECT t.created_at) AS c)',
  erase: async ({ prisma }, person) => {
    const where = { subjects: { hasSome: subjectsOfPerson(person) } };
    const data = { responseCiphertext: new Uint8Array(), subjects: [] };
    return (await prisma.idempotencyKey.updateMany({ where, data })).count;
  },
};

/** What a row encrypts. Only the hash of the request's body until its handler has a result or a response. */
interface Outcome {
  readonly request: string;
  readonly result?: object;
  readonly response?: StoredResponse;
}

type Recorded = [outcome: Omit<Outcome, 'request'>, keepsLease?: boolean];

interface FoundKey {
  /** Empty after an erasure. */
  readonly ciphertext: Uint8Array;
  /** `claimed`: by the statement. `leased`: by another request. `ended`: the request has an outcome. */
  readonly is: 'claimed' | 'leased' | 'ended';
}

/** Claims the key $1 until $4 ms from now if it is new, or if its process died before the outcome. Returns no row if it is being inserted. */
const CLAIM = prepared('access.claim_idempotency_key')`
    WITH claimed AS (
      INSERT INTO idempotency_keys AS k (id, response_ciphertext, lease_token, lease_until) VALUES ($1, $2, $3, ${msFromNow('$4')})
      ON CONFLICT (id) DO UPDATE SET lease_token = excluded.lease_token, lease_until = excluded.lease_until
       WHERE k.lease_until < clock_timestamp()
      RETURNING response_ciphertext
    )
    SELECT response_ciphertext AS ciphertext, 'claimed' AS is FROM claimed
    UNION ALL
    SELECT response_ciphertext, CASE WHEN lease_until IS NULL THEN 'ended' ELSE 'leased' END FROM idempotency_keys
     WHERE id = $1 AND NOT EXISTS (SELECT FROM claimed)`;

/** Stores the outcome, or nothing if a user of it was erased meanwhile. Ends the lease $2, unless $5; returns no row if another has it. */
const RECORD = prepared('access.record_idempotency_key')`
    UPDATE idempotency_keys
       SET response_ciphertext = CASE WHEN is_erased THEN '' ELSE $3::bytea END, subjects = CASE WHEN is_erased THEN '{}' ELSE $4::text[] END,
           lease_token = CASE WHEN $5 THEN lease_token END, lease_until = CASE WHEN $5 THEN lease_until END
      FROM (SELECT EXISTS (SELECT FROM users u WHERE u.id = ANY ($4::text[]::uuid[]) AND u.erased_at IS NOT NULL)) AS user_of (is_erased)
     WHERE id = $1 AND lease_token = $2
    RETURNING id`;

const RELEASE = 'DELETE FROM idempotency_keys WHERE id = $1 AND lease_token = $2';

// Calls now(), because PostgreSQL compares clock_timestamp() with each row, without the index.
export const DELETE_EXPIRED = `
    DELETE FROM idempotency_keys WHERE created_at < now() - ${REPEATABLE_FOR}`;

/**
 * Executes a request once for each `Idempotency-Key`. The first request claims the key by a lease; a repetition waits for its outcome. A
 * request that fails leaves nothing. The outcome is the response, or what the handler stores in the transaction of its effect: then a crash
 * between the two repeats nothing.
 */
@Injectable()
export class IdempotencyKeys extends BackgroundTasks {
  protected readonly tasks = [
    task({
      name: 'access.delete_idempotency_keys',
      everyMs: DELETE_EVERY_MS,
      once: 'deployment',
      run: async () => void (await this.database.query(DELETE_EXPIRED)),
    }),
  ];
  private readonly leases = new Leases(
    this.database,
    leasesOn({ table: 'idempotency_keys', key: 'id', isDue: 'false' }),
    { leaseMs: LEASE_MS },
  );
  /** The last request with each key in this process: the next one waits for it without asking the database. */
  private readonly last = new Map<string, Promise<void>>();

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {
    super('expired Idempotency-Keys could not be deleted');
  }

  /** Claims the key, or finds what an earlier request has come to. Throws Problem idempotency_key_reused if that had another body. */
  async begin(request: RepeatableRequest): Promise<KeyedExecution> {
    const leave = await this.enter(request.id);
    try {
      const execution = await this.claim(request);
      const { leaseToken } = execution;
      if (leaseToken === undefined) {
        await requireActing(this.database);
        leave();
      } else {
        const ended = new Promise<void>((resolve) => (execution.end = resolve)).then(leave);
        void this.leases.renewWhile({ id: request.id, leaseToken }, NEVER, () => ended);
      }
      return execution;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Stores the response, unless the handler has stored its result. */
  async finish(execution: KeyedExecution, response: StoredResponse): Promise<void> {
    await this.tryToRecord(execution, { response });
    end(execution);
  }

  /** Lets the next request with the key be executed, unless this one has an outcome. */
  async release(execution: KeyedExecution): Promise<void> {
    const { request, leaseToken } = execution;
    // Ignores an error, because the lease expires.
    if (leaseToken !== undefined)
      await this.database.query(RELEASE, [request.id, leaseToken]).catch(() => undefined);
    end(execution);
  }

  /** Runs `create` in a transaction that also stores its result. Returns the result of an earlier request with the same key. */
  async once<T extends object>(create: (tx: Transaction) => Promise<T>): Promise<T> {
    const execution = currentKeyed();
    if (execution?.result !== undefined) return execution.result as T;
    const result = await this.database.transaction(async (tx) => {
      const created = await create(tx);
      if (execution === undefined || (await this.record(tx, execution, { result: created }))) return created;
      throw new Problem('database_unavailable', 'Another request with the same Idempotency-Key has begun');
    });
    if (execution !== undefined) Object.assign(execution, { result, leaseToken: undefined });
    return result;
  }

  /** Like `once`, for a request whose body was read only now. */
  async onceWith<T extends object>(body: unknown, create: (tx: Transaction) => Promise<T>): Promise<T> {
    const repeatable = currentKeyed()?.request;
    if (repeatable === undefined) return this.once(create);
    const execution = await this.begin({ ...repeatable, body });
    try {
      return await executeAs(execution, () => this.once(create));
    } finally {
      await this.release(execution);
    }
  }

  /** Returns true the first time that it is called with an id within 24 hours. */
  async isFirst(id: string): Promise<boolean> {
    const text = `INSERT INTO idempotency_keys (id, response_ciphertext) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id`;
    return (await this.database.query(text, [id, this.seal(id, { request: '' })])).length > 0;
  }

  private async remember(execution: KeyedExecution, result: object): Promise<void> {
    if (execution.leaseToken === undefined) return;
    await this.record(this.database, execution, { result });
    Object.assign(execution, { result, leaseToken: undefined });
  }

  private async claim(request: RepeatableRequest): Promise<KeyedExecution> {
    const { id } = request;
    const leaseToken = randomUUID();
    const body = hashOfBody(request.body);
    for (let checkAgainMs = CHECK_AGAIN_MS.first; ;) {
      const values = [id, this.seal(id, { request: body }), leaseToken, LEASE_MS];
      const [found] = await this.database.query<FoundKey>(CLAIM, values, OUTCOME);
      if (found !== undefined) {
        if (found.ciphertext.length === 0)
          throw new Problem(
            'idempotency_key_reused',
            'The person of the first request has been erased since',
          );
        const { request: stored, ...outcome } = this.open(id, found.ciphertext);
        const execution: KeyedExecution = {
          id,
          request,
          ...(found.is === 'claimed' && { leaseToken }),
          ...outcome,
          remember: (result) => this.remember(execution, result),
          intend: (result) => this.tryToRecord(execution, { result }, true),
        };
        if (stored !== body) {
          await this.release(execution);
          throw new Problem(
            'idempotency_key_reused',
            'The Idempotency-Key was sent before with another body',
          );
        }
        if (found.is !== 'leased') return execution;
      }
      await pause(checkAgainMs);
      checkAgainMs = Math.min(2 * checkAgainMs, CHECK_AGAIN_MS.most);
    }
  }

  /** Waits for the request that entered before. Returns a function that lets the next one in. */
  private async enter(id: string): Promise<() => void> {
    const before = this.last.get(id);
    let leave = (): void => {};
    const left = new Promise<void>((resolve) => (leave = resolve));
    this.last.set(id, left);
    void left.then(() => this.last.get(id) === left && this.last.delete(id));
    await before;
    return leave;
  }

  /** Does nothing if the outcome is stored. Logs an error: what is being done is known, so the caller gets its response. */
  private async tryToRecord(execution: KeyedExecution, ...outcome: Recorded): Promise<void> {
    if (execution.leaseToken === undefined) return;
    await this.record(this.database, execution, ...outcome).catch((error: unknown) => {
      this.logger.warn(`the outcome for an Idempotency-Key could not be stored: ${String(error)}`);
    });
  }

  private async record(
    sql: Sql,
    { request, leaseToken }: KeyedExecution,
    ...[outcome, keepsLease = false]: Recorded
  ): Promise<boolean> {
    const sealed = this.seal(request.id, { request: hashOfBody(request.body), ...outcome });
    const values = [request.id, leaseToken, sealed, subjectsOf(request, outcome), keepsLease];
    return (await sql.query(RECORD, values)).length > 0;
  }

  private seal(id: string, outcome: Outcome): Uint8Array {
    return this.cipher.encrypt(JSON.stringify(outcome), STORED_RESPONSES.context(id));
  }

  private open(id: string, ciphertext: Uint8Array): Outcome {
    return JSON.parse(this.cipher.decrypt(ciphertext, STORED_RESPONSES.context(id))) as Outcome;
  }
}

function end(execution: KeyedExecution): void {
  execution.end?.();
  execution.end = undefined;
}
