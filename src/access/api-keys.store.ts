import { hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database.js';
import { mapPage, type Page } from '../platform/http/page.js';
import { List } from '../platform/list/list.js';
import { ApiKeyView, CreatedApiKeyView } from './api-keys.dto.js';
import { recordAudit } from './audit-log.store.js';
import type { Principal, Scope } from './scopes.js';

/** Returns a new key. It has 256 random bits, so a fast hash is enough. The prefix lets secret scanners recognise a leaked key. */
export const newApiKey = (): string => `pvo_${randomBytes(32).toString('base64url')}`;

/** Returns whether `text` has the form of a key. No other text can be a key, so it needs no database query. */
export const isApiKey = (text: string): boolean => /^pvo_[A-Za-z0-9_-]{43}$/.test(text);

/** Returns the SHA-256 of a key. The database stores only this hash. */
export const hashOf = (key: string) => hash('sha256', key, 'buffer');

/** A key, or the hash of a key from a session of the console. */
export type PresentedKey = string | Buffer<ArrayBuffer>;

export const hashIn = (key: PresentedKey) => (typeof key === 'string' ? hashOf(key) : key);

export const mayExist = (key: PresentedKey): boolean => typeof key !== 'string' || isApiKey(key);

// Locks the keys in the order of their ids, so that replicas that count refusals of the same keys at the same time cannot deadlock.
const ADD_REFUSALS = `
  WITH refused AS (
    SELECT k.id, r.* FROM jsonb_to_recordset($1::jsonb) AS r (hash text, refused401 bigint, refused403 bigint, refused429 bigint)
      JOIN api_keys k ON k.key_hash = decode(r.hash, 'hex')
     ORDER BY k.id FOR NO KEY UPDATE OF k
  )
  UPDATE api_keys k SET refused_401 = k.refused_401 + r.refused401, refused_403 = k.refused_403 + r.refused403,
    refused_429 = k.refused_429 + r.refused429, last_refused_at = clock_timestamp()
  FROM refused r WHERE k.id = r.id
  RETURNING r.hash, k.id, k.name, k.revoked_at IS NOT NULL AS "isRevoked"`;

const LOCK_LIVE_KEY = 'SELECT FROM api_keys WHERE id = $1 AND revoked_at IS NULL FOR UPDATE';

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

@Injectable()
export class ApiKeysStore {
  constructor(private readonly database: Database) {}

  /** Returns the principal of the key with this hash, or null if the key is unknown or revoked. */
  async findByHash(keyHash: Buffer<ArrayBuffer>): Promise<(Principal & { id: string }) | null> {
    const where = { keyHash, revokedAt: null };
    const select = { id: true, name: true, scopes: true };
    const key = await this.database.prisma.apiKey.findUnique({ where, select });
    return key as (Principal & { id: string }) | null;
  }

  /** Returns the principal of the key with this id, or null if the key is revoked. */
  async findById(id: string): Promise<(Principal & { id: string }) | null> {
    const select = { id: true, name: true, scopes: true };
    const key = await this.database.prisma.apiKey.findUnique({ where: { id, revokedAt: null }, select });
    return key as (Principal & { id: string }) | null;
  }

  async findRevoked(ids: readonly string[]): Promise<string[]> {
    const where = { id: { in: [...ids] }, revokedAt: { not: null } };
    const rows = await this.database.prisma.apiKey.findMany({ where, select: { id: true } });
    return rows.map(({ id }) => id);
  }

  /** Records a use of the key, at most once a minute per key, even under concurrent requests. */
  async noteUse(id: string): Promise<void> {
    const text = `
      UPDATE api_keys SET last_used_at = clock_timestamp()
      WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute')`;
    await this.database.query(text, [id]);
  }

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
      const [live] = await tx.query(LOCK_LIVE_KEY, [id]);
      if (live === undefined) return;
      // Before the update, because a key may revoke itself.
      await recordAudit(tx, { actor, action: 'api_key.revoked', target: id });
      await tx.query('UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = $1', [id]);
    });
  }
}
