import { hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { Principal } from './scopes.js';

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

@Injectable()
export class ApiKeysStore {
  constructor(private readonly database: Database) {}

  /** Returns the principal of the key with this hash or id, or null if the key is unknown or revoked. */
  async find(by: { readonly keyHash: Buffer<ArrayBuffer> } | { readonly id: string }) {
    const select = { id: true, name: true, scopes: true };
    const key = await this.database.prisma.apiKey.findUnique({ where: { ...by, revokedAt: null }, select });
    return key as (Principal & { id: string }) | null;
  }

  async findRevoked(ids: readonly string[]): Promise<string[]> {
    const where = { id: { in: [...ids] }, revokedAt: null };
    const live = await this.database.prisma.apiKey.findMany({ where, select: { id: true } });
    return ids.filter((id) => !live.some((key) => key.id === id));
  }

  /**
   * Records a use of the key, at most once a minute per key, even under concurrent requests. Leaves it to the next use while a transaction
   * acts with the key: a statement that waited for the end of all of them could wait for long.
   */
  async noteUse(id: string): Promise<void> {
    const text = `
      UPDATE api_keys SET last_used_at = clock_timestamp()
      WHERE id = (SELECT id FROM api_keys
                   WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute')
                     FOR NO KEY UPDATE SKIP LOCKED)`;
    await this.database.query(text, [id]);
  }
}
