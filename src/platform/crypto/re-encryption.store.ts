import type { Database, Statement } from '../database/database.js';
import { DecryptionError, type Cipher } from './cipher.js';

/** A column of ciphertexts, whose module says how to find and replace them. */
export interface EncryptedColumn {
  /** `table.column`. */
  readonly name: string;
  /** Answers `id` and `ciphertext` of those that do not begin with $1 and come after the id $2, in order; at most $3. */
  readonly selectOthers: Statement;
  /** What comes before every id. */
  readonly beforeAll: string;
  /** Puts $3[n] in the place of $2[n] in the row $1[n], if that still holds it; answers a row for each. */
  readonly replace: Statement;
  /** What the ciphertext of a row is bound to. */
  readonly context: (id: string) => string;
}

export interface ReEncryption {
  readonly reEncrypted: number;
  /** Under a key that is no longer in ENCRYPTION_KEYS, or damaged; left as they are. */
  readonly unreadable: number;
  /** Readable, and under another key than the first all the same: somebody goes on writing with it. */
  readonly left: number;
}

/** Few enough that no row is locked for longer than a read of a session takes. */
const BATCH = 100;
/** The second pass is for what was written during the first; after the third, whoever writes so does not stop. */
const PASSES = 3;

interface Other {
  readonly id: string;
  readonly ciphertext: Buffer;
}

/**
 * Brings every ciphertext of a column under the first key, while the service goes on. A row that was written meanwhile is left
 * as it is: the next pass looks at it again.
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

/** In a transaction, which is tried again should it meet a reader that locks the same rows in another order. */
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
