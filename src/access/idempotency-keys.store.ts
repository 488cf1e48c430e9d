import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Cipher } from '../platform/crypto/cipher.js';
import { encryptedColumn } from '../platform/crypto/re-encryption.store.js';
import { Database, type Transaction } from '../platform/database/database.js';
import { stopsWithin } from '../platform/shutdown/limits.js';
import { BackgroundTasks } from '../platform/tasks/background-tasks.js';
import { task } from '../platform/tasks/task.js';
import { requireActing } from './acting-caller.js';
import { unlessReused, type RepeatableRequest } from './repeatable-request.decorator.js';

const STOP_WITHIN_MS = stopsWithin(500);
const DELETE_EVERY_MS = 10 * 60_000;
/** How long a repetition counts, in SQL. docs/api.md promises it. */
export const REPEATABLE_FOR = `interval '24 hours'`;

export const STORED_RESPONSES = encryptedColumn('idempotency_keys', 'response_ciphertext', {
  name: 'id',
  type: 'text',
});

/** Serialises requests with the same key until they commit. A row lock cannot, because the first request with a key has no row to lock. */
const LOCK_KEY = `SELECT pg_advisory_xact_lock(hashtextextended('pv-onboarding/idempotency-keys/' || $1, 0))`;

/** Makes creations idempotent: stores the response to a request with an `Idempotency-Key` in the transaction of the creation. */
@Injectable()
export class IdempotencyKeys extends BackgroundTasks {
  protected readonly tasks = [
    task({
      name: 'access.delete_idempotency_keys',
      everyMs: DELETE_EVERY_MS,
      once: 'deployment',
      run: () => this.deleteExpired(),
    }),
  ];

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {
    super('expired Idempotency-Keys could not be deleted', STOP_WITHIN_MS);
  }

  /** Runs `create` in a transaction. If the key was used before, returns the stored response, or `key_reused` if the body differs. */
  async once<T extends object>(
    request: RepeatableRequest | undefined,
    create: (tx: Transaction) => Promise<T>,
  ): Promise<T | 'key_reused'> {
    return this.database.transaction(async (tx) => {
      if (request === undefined) return create(tx);
      const { id, body } = request;
      await tx.query(LOCK_KEY, [id]);
      const stored = await tx.prisma.idempotencyKey.findUnique({ where: { id } });
      if (stored !== null) {
        await requireActing(tx);
        return this.open<T>(stored.responseCiphertext, request);
      }
      const response = await create(tx);
      const text = JSON.stringify({ request: body, response });
      const responseCiphertext = this.cipher.encrypt(text, STORED_RESPONSES.context(id));
      await tx.prisma.idempotencyKey.create({ data: { id, responseCiphertext } });
      return response;
    });
  }

  /** For creations by the remote service, which no transaction can hold. Throws Problem idempotency_key_reused. */
  async refuseOtherBody(request: RepeatableRequest): Promise<void> {
    // The body may have personal data, and only has to be recognised.
    const body = hash('sha256', JSON.stringify(request.body ?? null), 'base64url');
    const create = async (tx: Transaction) => {
      await requireActing(tx);
      return {};
    };
    unlessReused(await this.once({ ...request, body }, create));
  }

  private open<T>(ciphertext: Uint8Array, { id, body }: RepeatableRequest): T | 'key_reused' {
    const text = this.cipher.decrypt(ciphertext, STORED_RESPONSES.context(id));
    const { request, response } = JSON.parse(text) as { readonly request: unknown; readonly response: T };
    return isDeepStrictEqual(request, JSON.parse(JSON.stringify(body))) ? response : 'key_reused';
  }

  private async deleteExpired(): Promise<void> {
    await this.database.query(
      `DELETE FROM idempotency_keys WHERE created_at < clock_timestamp() - ${REPEATABLE_FOR}`,
    );
  }
}
