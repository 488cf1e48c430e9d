import type { Database } from '../database/database.js';
import type { Cipher } from './cipher.js';

/** Describes a column for `reEncrypt`, which pages by id. An index by key would slow down every write and be used once in years. */
export function encryptedColumn(
  table: string,
  column: string,
  key: { readonly name: string; readonly type: 'uuid' | 'text' } = { name: 'id', type: 'uuid' },
) {
  return {
    name: `${table}.${column}`,
    beforeAll: key.type === 'uuid' ? '00000000-0000-0000-0000-000000000000' : '',
    /** Returns the context to which the ciphertext of a row is bound: the table, the id and the column without `_ciphertext`. */
    context: (id: string) => `${table}/${id}/${column.replace(/_ciphertext$/, '')}`,
    sample: `SELECT ${column} AS ciphertext FROM ${table} WHERE ${column} <> '' LIMIT $1`,
    /** Selects at most $3 rows with an id after $2 and a ciphertext that does not start with $1, ordered by id. */
    selectOthers: `
      SELECT ${key.name} AS id, ${column} AS ciphertext FROM ${table}
      WHERE ${column} <> '' AND substring(${column} FOR length($1::bytea)) <> $1 AND ${key.name} > $2
      ORDER BY ${key.name}
      LIMIT $3`,
    /** Replaces $2[n] by $3[n] in the row $1[n], if the row still contains $2[n]; returns a row for each replacement. */
    replace: `
      UPDATE ${table} t SET ${column} = r.renewed
      FROM unnest($1::${key.type}[], $2::bytea[], $3::bytea[]) AS r (id, read, renewed)
      WHERE t.${key.name} = r.id AND t.${column} = r.read
      RETURNING t.${key.name}`,
  };
}

export type EncryptedColumn = ReturnType<typeof encryptedColumn>;

export interface ReEncryption {
  readonly reEncrypted: number;
  /** Ciphertexts that are damaged or whose key is missing from ENCRYPTION_KEYS. They are not changed. */
  readonly unreadable: number;
  /** Readable ciphertexts that are still not encrypted with the first key: some process keeps writing with another key. */
  readonly left: number;
}

/** How many rows a transaction changes: few, so that each row is locked only briefly. */
const BATCH = 100;
/** The second pass re-encrypts rows written during the first. If rows are left after the third, a process keeps using another key. */
const PASSES = 3;

type Stored = Readonly<{ id: string; ciphertext: Buffer }>;

/** Re-encrypts every ciphertext of a column with the first key. A row that changes meanwhile is skipped; the next pass checks it again. */
export async function reEncrypt(
  database: Database,
  cipher: Cipher,
  column: EncryptedColumn,
): Promise<ReEncryption> {
  let reEncrypted = 0;
  for (let pass = 1; ; pass++) {
    let readable = 0;
    let unreadable = 0;
    for (let after = column.beforeAll; ;) {
      const batch = await database.query<Stored>(column.selectOthers, [cipher.currentHeader, after, BATCH]);
      const last = batch.at(-1);
      if (last === undefined) break;
      after = last.id;
      const renewed = batch.flatMap((row) => renew(cipher, column, row));
      unreadable += batch.length - renewed.length;
      readable += renewed.length;
      if (pass > PASSES) continue;
      const values = (['id', 'ciphertext', 'renewed'] as const).map((key) => renewed.map((row) => row[key]));
      // Uses `transaction`, because it retries after a deadlock.
      reEncrypted += (await database.transaction((tx) => tx.query(column.replace, values))).length;
    }
    if (readable === 0 || pass > PASSES) return { reEncrypted, unreadable, left: readable };
  }
}

function renew(cipher: Cipher, { context }: EncryptedColumn, row: Stored) {
  const bound = context(row.id);
  const text = cipher.tryDecrypt(row.ciphertext, bound);
  return text === null ? [] : [{ ...row, renewed: cipher.encrypt(text, bound) }];
}
