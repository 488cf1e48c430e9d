import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { decodeCursor, toPage, type Page, type PageQuery } from '../platform/http/page.js';
import { Problem } from '../platform/problem/problem.js';
import { hashOf, newApiKey } from './api-key.js';
import { FIND_BY_HASH, FIND_REVOKED, INSERT_KEY, NOTE_USE, REVOKE_KEY } from './api-keys.sql.js';
import { AuditLog } from './audit-log.store.js';
import type { Principal, Scope } from './scopes.js';

export interface StoredKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: Scope[];
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

export interface CreatedKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The key itself, shown only this once. */
  readonly key: string;
  readonly createdAt: Date;
}

const LISTED = {
  id: true,
  name: true,
  scopes: true,
  createdAt: true,
  createdBy: true,
  lastUsedAt: true,
  revokedAt: true,
};

@Injectable()
export class ApiKeysStore {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /** Returns null for a key that is unknown or revoked. */
  async findByHash(keyHash: Buffer): Promise<(Principal & { id: string; useIsStale: boolean }) | null> {
    const [row] = await this.database.query<Principal & { id: string; useIsStale: boolean }>(FIND_BY_HASH, [
      keyHash,
    ]);
    return row ?? null;
  }

  async findRevoked(ids: readonly string[]): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(FIND_REVOKED, [ids]);
    return rows.map(({ id }) => id);
  }

  async noteUse(id: string): Promise<void> {
    await this.database.query(NOTE_USE, [id]);
  }

  async create(name: string, scopes: readonly Scope[], actor: string): Promise<CreatedKey> {
    const key = newApiKey();
    return this.database.transaction(async (tx) => {
      const [row] = await tx.query<{ id: string; createdAt: Date }>(INSERT_KEY, [
        name,
        scopes,
        hashOf(key),
        actor,
      ]);
      const { id, createdAt } = row!;
      await this.audit.record(tx, {
        actor,
        action: 'api_key.created',
        target: id,
        details: { name, scopes },
      });
      return { id, name, scopes, key, createdAt };
    });
  }

  /** Returns keys newest first, including the revoked ones, so that the history of a key can be found. */
  async list({ limit, cursor }: Pick<PageQuery, 'limit' | 'cursor'>): Promise<Page<StoredKey>> {
    const after = decodeCursor(cursor, ['instant', 'uuid']);
    const rows = await this.database.prisma.apiKey.findMany({
      select: LISTED,
      where: after && {
        OR: [{ createdAt: { lt: after[0] } }, { createdAt: after[0], id: { lt: after[1] } }],
      },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit + 1,
    });
    return toPage(rows as StoredKey[], limit, (row) => [row.createdAt, row.id]);
  }

  /** Revokes a key; throws Problem not_found. Revoking it again changes nothing. */
  async revoke(id: string, actor: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const [row] = await tx.query<{ wasActive: boolean }>(REVOKE_KEY, [id]);
      if (row === undefined) throw new Problem('not_found', `There is no API key ${id}`);
      if (row.wasActive) await this.audit.record(tx, { actor, action: 'api_key.revoked', target: id });
    });
  }
}
