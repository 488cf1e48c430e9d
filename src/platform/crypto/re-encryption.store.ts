import type { Database, Statement } from '../database/database.js';
import { DecryptionError, type Cipher } from './cipher.js';

/** A column of ciphertexts; its module defines how to find and replace them. */
export interface EncryptedColumn {
  /** `table.column`. */
  readonly name: string;
  /**
   * Returns `id` and `ciphertext` of the rows whose ciphertext does not start with $1 and whose id follows $2, ordered by id; at most $3.
   */
  readonly selectOthers: Statement;
  /** A value that precedes every id. */
  readonly beforeAll: string;
  /** Replaces $2[n] by $3[n] in the row $1[n], if the row still contains $2[n]; returns a row for each replacement. */
  readonly replace: Statement;
  /** Returns the context to which the ciphertext of a row is bound. */
  readonly context: (id: string) => string;
}

export interface ReEncryption {
  readonly reEncrypted: number;
  /** Under a key that is missing from ENCRYPTION_KEYS, or damaged; not changed. */
  readonly unreadable: number;
  /** Readable, but still under another key than the first: some process continues to write with that key. */
  readonly left: number;
}

/** Small enough that no row is locked for longer than a read of a session takes. */
const BATCH = 100;
/** The second pass is for rows written during the first. After the third, some process keeps writing with another key. */
const PASSES = 3;

interface Other {
  readonly id: string;
  readonly ciphertext: Buffer;
}

/**
 * Re-encrypts every ciphertext of a column with the first key while the service runs. A row that changes meanwhile is skipped; the next
 * pass checks it again.
 */
export async function reEncrypt(
  database: Database,
  cipher: Cipher,
  column: EncryptedColumn,
): Promise<ReEncryption> {
  let reEncrypted = 0;
  for (let pass = 1; ; pass++) {
    let readable = 0;
    let unreadable = 0;
    for await (const batch of othersOf(database, cipher, column)) {
      const renewed = batch.flatMap((other) => renew(cipher, column, other) ?? []);
      unreadable += batch.length - renewed.length;
      readable += renewed.length;
      if (pass <= PASSES) reEncrypted += await replace(database, column, renewed);
    }
    if (readable === 0 || pass > PASSES) return { reEncrypted, unreadable, left: readable };
  }
}

async function* othersOf(
  database: Database,
  cipher: Cipher,
  { selectOthers, beforeAll }: EncryptedColumn,
): AsyncGenerator<readonly Other[]> {
  for (let after = beforeAll; ;) {
    const others = await database.query<Other>(selectOthers, [cipher.currentHeader, after, BATCH]);
    const last = others.at(-1);
    if (last === undefined) return;
    after = last.id;
    yield others;
  }
}

function renew(cipher: Cipher, { context }: EncryptedColumn, { id, ciphertext }: Other) {
  try {
    const bound = context(id);
    return { id, from: ciphertext, to: cipher.encrypt(cipher.decrypt(ciphertext, bound), bound) };
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}

/** Runs in a transaction, which is retried if it deadlocks with a reader that locks the same rows in another order. */
async function replace(
  database: Database,
  column: EncryptedColumn,
  renewed: readonly { readonly id: string; readonly from: Buffer; readonly to: Buffer }[],
): Promise<number> {
  if (renewed.length === 0) return 0;
  const values = [renewed.map(({ id }) => id), renewed.map(({ from }) => from), renewed.map(({ to }) => to)];
  const replaced = await database.transaction((tx) => tx.query(column.replace, values));
  return replaced.length;
}
