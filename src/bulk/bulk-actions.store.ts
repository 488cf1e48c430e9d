import { Injectable } from '@nestjs/common';
import { isAudited, recordAudit } from '../access/audit-log.store.js';
import { actorOf, type Principal, type Scope } from '../access/scopes.js';
import { Cipher } from '../platform/crypto/cipher.js';
import { OUTCOME } from '../platform/database/connection/patience.js';
import { Database, type Transaction } from '../platform/database/database.js';
import { subjectsOf, type PersonalData } from '../platform/database/personal-data.js';
import { isRefusal, withoutRefusedRows, type Work } from '../platform/database/refused-rows.js';
import type { Prisma } from '../platform/database/generated/client.js';
import { Environment } from '../platform/env/environment.js';
import { BulkActionView, type ItemStatus, type NewBulkAction } from './bulk-actions.dto.js';
import * as sql from './bulk-actions.sql.js';

/** An action as its process executes it. */
export interface BulkAction {
  readonly id: string;
  readonly operationId: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Null if the settings have changed that gave a caller without a key its scopes. */
  readonly caller: Principal | null;
  readonly actor: string;
}

export interface BegunItem {
  readonly ordinal: number;
  readonly id: string;
  readonly wasBegun: boolean;
}

interface Begun {
  readonly items: readonly BegunItem[];
  /** The places whose row PostgreSQL refuses to change. */
  readonly notBegun: readonly number[];
}

export interface ItemResult {
  readonly status: Exclude<ItemStatus, 'pending'>;
  readonly code: string | null;
  readonly detail: string | null;
}

/** The context of the hash of what gives a caller without a key its scopes. */
const GRANT = 'bulk_actions/grant';

/** What an id shows that has no result at the end of its action. */
const REFUSED: ItemResult = {
  status: 'failed',
  code: 'internal_error',
  detail: 'The database refuses to store the result. The audit log says whether it was done',
};

/** The id of the requests of an action, by which the audit log tells what is done. */
export const requestIdOf = (actionId: string): string => `bulk-${actionId}`;

@Injectable()
export class BulkActionsStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly environment: Environment,
  ) {}

  async create(
    tx: Transaction,
    { operationId, ids, arguments: given = {}, reason }: NewBulkAction,
    caller: Principal,
  ): Promise<string> {
    const actor = actorOf(caller);
    const { id } = await tx.prisma.bulkAction.create({
      data: {
        operationId,
        arguments: given as Prisma.InputJsonObject,
        reason,
        actor,
        keyId: caller.id,
        callerName: caller.name,
        callerScopes: caller.id === null ? [...caller.scopes] : [],
        grantHash: caller.id === null ? this.cipher.hash(this.grantOf(caller.name), GRANT) : null,
        consoleUntil: caller.consoleUntil === undefined ? null : new Date(caller.consoleUntil),
      },
    });
    await tx.query(sql.INSERT_ITEMS, [id, ids]);
    const details = { operationId, ids: ids.length, reason };
    await recordAudit(tx, { actor, action: 'bulk_action.created', target: id, details });
    return id;
  }

  async find(id: string): Promise<BulkActionView | null> {
    const action = await this.database.prisma.bulkAction.findUnique({
      where: { id },
      include: { items: { orderBy: { ordinal: 'asc' } } },
    });
    if (action === null) return null;
    const counts = { pending: 0, done: 0, skipped: 0, failed: 0 };
    const items = action.items.map((item) => {
      const isRefused = item.status === 'pending' && action.finishedAt !== null;
      const { status, code, detail } = isRefused ? REFUSED : item;
      counts[status as ItemStatus] += 1;
      return { id: item.target, status: status as ItemStatus, code, detail, doneAt: item.doneAt };
    });
    const { operationId, arguments: given, reason, actor, createdAt, finishedAt } = action;
    return BulkActionView.of({
      id,
      operationId,
      arguments: given as object,
      reason,
      createdBy: actor,
      createdAt,
      finishedAt,
      counts,
      items,
    });
  }

  async findDue(): Promise<string[]> {
    return (await this.database.query<{ id: string }>(sql.FIND_DUE)).map(({ id }) => id);
  }

  async read(id: string): Promise<BulkAction> {
    const action = await this.database.prisma.bulkAction.findUniqueOrThrow({ where: { id } });
    const { operationId, arguments: given, keyId, callerName: name, callerScopes } = action;
    const { consoleUntil, grantHash } = action;
    const scopes = callerScopes as Scope[];
    const caller = { id: keyId, name, scopes, ...(consoleUntil && { consoleUntil: consoleUntil.getTime() }) };
    const isGranted =
      grantHash === null ||
      this.cipher.hashes(this.grantOf(name), GRANT).some((hash) => hash.equals(grantHash));
    return {
      id,
      operationId,
      arguments: given as Readonly<Record<string, unknown>>,
      actor: actorOf(caller),
      caller: isGranted ? caller : null,
    };
  }

  /** Returns the settings that give a caller without a key its scopes. */
  private grantOf(name: string): string {
    const { ADMIN_API_KEY, CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID, CONSOLE_OIDC_GROUPS } =
      this.environment;
    return name.startsWith('oidc:')
      ? JSON.stringify([CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID, CONSOLE_OIDC_GROUPS])
      : ADMIN_API_KEY;
  }

  /** Begins the next ids, other than those at the places `without`. */
  async begin(id: string, token: string, limit: number, without: readonly number[]): Promise<Begun> {
    const begin: Work<Begun> = async (tx, changeRows) => {
      const next = await tx.query<{ ordinal: number }>(sql.LOCK_NEXT_ITEMS, [id, token, limit, without]);
      const ordinals = new Map(next.map(({ ordinal }) => [`bulk action ${id}, place ${ordinal}`, ordinal]));
      const items = await changeRows([...ordinals.keys()], (keys) =>
        tx.query<BegunItem>(sql.BEGIN_ITEMS, [id, keys.map((key) => ordinals.get(key)!)]),
      );
      const begun = new Set(items.map(({ ordinal }) => ordinal));
      return { items, notBegun: [...ordinals.values()].filter((ordinal) => !begun.has(ordinal)) };
    };
    return withoutRefusedRows(this.database, begin, OUTCOME);
  }

  /** Returns whether the operation has already committed for this id. Anybody may send the id of a request, so the actor counts, too. */
  async isDone(action: BulkAction, id: string): Promise<boolean> {
    return isAudited(this.database, { target: id, requestId: requestIdOf(action.id), actor: action.actor });
  }

  /** Stores a result. Returns false if PostgreSQL refuses it. */
  async settle(id: string, token: string, ordinal: number, result: ItemResult): Promise<boolean> {
    const { status, code, detail } = result;
    const values = [id, token, ordinal, status, code, detail];
    try {
      await this.database.outcomes.repeat(() => this.database.query(sql.SETTLE_ITEM, values, OUTCOME), 0);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return false;
    }
    return true;
  }

  /** Ends an action. `without`: the places of the ids that have no result. */
  async finish(id: string, token: string, without: readonly number[]): Promise<void> {
    await this.database.query(sql.FINISH, [id, token, without], OUTCOME);
  }
}

/** What callers have written about actions on a person. */
export const BULK_ACTIONS: PersonalData = {
  table: 'bulk_actions',
  where: sql.OF_PERSON,
  order: 't.id',
  parameter: subjectsOf,
  columns: '(SELECT c FROM (SELECT t.operation_id, t.arguments, t.reason, t.created_at) AS c)',
  erase: async (tx, person) => (await tx.query(sql.ERASE_ACTIONS, [subjectsOf(person)])).length,
};
