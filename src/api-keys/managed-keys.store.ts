import { Injectable } from '@nestjs/common';
import { keyLock } from '../access/acting-caller.js';
import { hashOf, newApiKey } from '../access/api-keys.store.js';
import { recordAudit } from '../access/audit-log.store.js';
import type { Scope } from '../access/scopes.js';
import { Database, type Transaction } from '../platform/database/database.js';
import { mapPage, type Page } from '../platform/http/page.js';
import { List } from '../platform/list/list.js';
import { ApiKeyView, CreatedApiKeyView } from './api-keys.dto.js';

// Locks the keys in the order of their ids, so that replicas that count refusals of the same keys at the same time cannot deadlock.
export const ADD_REFUSALS = `
  WITH refused AS (
    SELECT k.id, r.* FROM jsonb_to_recordset($1::jsonb) AS r (hash text, refused401 bigint, refused403 bigint, refused429 bigint)
      JOIN api_keys k ON k.key_hash = decode(r.hash, 'hex')
     ORDER BY k.id FOR NO KEY UPDATE OF k
  )
  UPDATE api_keys k SET refused_401 = k.refused_401 + r.refused401, refused_403 = k.refused_403 + r.refused403,
    refused_429 = k.refused_429 + r.refused429, last_refused_at = clock_timestamp()
  FROM refused r WHERE k.id = r.id
  RETURNING r.hash, k.id, k.name, k.revoked_at IS NOT NULL AS "isRevoked"`;

/** Waits for the transactions that act with key $1. Later ones wait for the revocation. */
export const LOCK_KEY = `SELECT pg_advisory_xact_lock(${keyLock('$1::uuid')})`;
const FIND_LIVE_KEY = 'SELECT FROM api_keys WHERE id = $1 AND revoked_at IS NULL';

/** The number of refused requests with one key, by HTTP status. */
export type Refused = Readonly<Record<'refused401' | 'refused403' | 'refused429', number>>;

const API_KEYS = new List({
  name: 'api-keys',
  select: `
    SELECT id, name, scopes, created_at AS "createdAt", created_by AS "createdBy", last_used_at AS "lastUsedAt",
           refused_401::float8 AS "refused401", refused_403::float8 AS "refused403", refused_429::float8 AS "refused429",
           last_refused_at AS "lastRefusedAt", revoked_at AS "revokedAt"
      FROM api_keys`,
  order: { createdAt: ['created_at', 'instant'], id: ['id', 'uuid'] },
  descending: true,
  filters: {},
});

export class ApiKeysQuery extends API_KEYS.Query {}

/** Creates, lists and revokes keys, and counts the requests that they are refused. */
@Injectable()
export class ManagedKeysStore {
  constructor(private readonly database: Database) {}

  /**
   * Adds the numbers of refused requests to the rows of their keys. `byHash`: the numbers by the hash of the key, in hexadecimal digits.
   * Returns the keys that exist, including revoked ones.
   */
  addRefusals(byHash: Readonly<Record<string, Refused>>) {
    const rows = Object.entries(byHash).map(([hash, refused]) => ({ hash, ...refused }));
    return this.database.query<{ hash: string; id: string; name: string; isRevoked: boolean }>(ADD_REFUSALS, [
      JSON.stringify(rows),
    ]);
  }

  async create(tx: Transaction, name: string, scopes: readonly Scope[], actor: string) {
    const key = newApiKey();
    const { id, createdAt } = await tx.prisma.apiKey.create({
      data: { name, scopes: [...scopes], keyHash: hashOf(key), createdBy: actor },
    });
    await recordAudit(tx, { actor, action: 'api_key.created', target: id, details: { name, scopes } });
    return CreatedApiKeyView.of({ id, name, scopes, key, createdAt });
  }

  async list(query: ApiKeysQuery): Promise<Page<ApiKeyView>> {
    return mapPage(await API_KEYS.page<Omit<ApiKeyView, 'object'>>(this.database, query), ApiKeyView.of);
  }

  find(id: string): Promise<{ name: string } | null> {
    return this.database.prisma.apiKey.findUnique({ where: { id }, select: { name: true } });
  }

  /** Revokes the key. Does nothing if the key is already revoked. */
  async revoke(id: string, actor: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx.query(LOCK_KEY, [id]);
      const [live] = await tx.query(FIND_LIVE_KEY, [id]);
      if (live === undefined) return;
      // Before the update, because a key may revoke itself.
      await recordAudit(tx, { actor, action: 'api_key.revoked', target: id });
      await tx.query('UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = $1', [id]);
    });
  }
}
