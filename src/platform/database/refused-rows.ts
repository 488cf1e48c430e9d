import { Logger } from '@nestjs/common';
import { isDatabaseUnavailable } from '../problem/database-unavailable.js';
import type { OUTCOME } from './connection/patience.js';
import type { Database, Sql, Transaction } from './database.js';
import { describeState, sqlState } from './sql-state.js';

/** If PostgreSQL refuses more rows than this, the fault is that of the statement or of the table. */
const MOST_REFUSED = 20;
/** How often a set is halved until a row is alone: sets have at most ten thousand rows. */
const HALVINGS = 14;
/** How long a refused row is not logged again. */
const LOG_AGAIN_MS = 60_000;

type RowKey = string | { readonly sessionId: string } | { readonly subject: string };

const logger = new Logger('RefusedRows');
/** The rows that were logged in this period. */
const logged = { since: -Infinity, ids: new Set<string>() };

/**
 * Changes rows by their keys in one statement, `change`. `most`: how many rows to change at most, the first of `keys`; more keys replace
 * those that are left out.
 */
export type ChangeRows = <Key extends RowKey, Row>(
  keys: readonly Key[],
  change: (keys: readonly Key[]) => Promise<Row[]>,
  most?: number,
) => Promise<Row[]>;

/** `spare`: how many more rows to select than without refused rows, because the refused ones stay the first in the order. */
export type Work<T> = (tx: Transaction, changeRows: ChangeRows, spare: number) => Promise<T>;

/**
 * Runs `work` in a transaction. If PostgreSQL refuses to change one of its rows, for example by a trigger, a constraint or a damaged page,
 * runs it again and leaves out the refused rows, so that they do not stop the others.
 */
export async function withoutRefusedRows<T>(
  database: Database,
  work: Work<T>,
  patience?: typeof OUTCOME,
): Promise<T> {
  try {
    const together: ChangeRows = (keys, change) => change(keys);
    return await database.transaction((tx) => work(tx, together, 0), patience);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return database.transaction((tx) => work(tx, leavingOut(tx), MOST_REFUSED), patience);
  }
}

/** Like `withoutRefusedRows`, for keys that are known: runs `change` once, and in a transaction only if PostgreSQL has refused a row. */
export async function changeWithoutRefused<Key extends RowKey, Row>(
  database: Database,
  keys: readonly Key[],
  change: (sql: Sql, keys: readonly Key[]) => Promise<Row[]>,
): Promise<Row[]> {
  try {
    return await change(database, keys);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return database.transaction((tx) => leavingOut(tx)(keys, (part) => change(tx, part)));
  }
}

/**
 * Runs `work`, which changes one row by transactions of its own. If PostgreSQL refuses the row, adds it to `refused` and returns null, so that
 * it does not stop the others. `name`: how the log calls it.
 */
export async function unlessRefused<Row, T>(
  refused: Set<Row>,
  row: Row,
  name: string,
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!isRefusal(error) || refused.size >= MOST_REFUSED) throw error;
    refused.add(row);
    logRefused(name, error);
    return null;
  }
}

/** Returns whether PostgreSQL has refused a statement because of its rows: not while it is unreachable, overloaded or in conflict. */
export const isRefusal = (error: unknown): boolean =>
  sqlState(error) !== undefined && !/^40/.test(sqlState(error)!) && !isDatabaseUnavailable(error);

function idOf(key: RowKey): string {
  if (typeof key === 'string') return key;
  return 'subject' in key ? key.subject : key.sessionId;
}

function logRefused(id: string, error: unknown): void {
  if (performance.now() - logged.since > LOG_AGAIN_MS) {
    logged.since = performance.now();
    logged.ids.clear();
  }
  if (logged.ids.has(id)) return;
  logged.ids.add(id);
  logger.error(`a row is left out: PostgreSQL refuses to change it (${describeState(error)}): ${id}`);
}

function leavingOut(tx: Transaction): ChangeRows {
  let refused = 0;
  const changeRows: ChangeRows = async (keys, change, most = keys.length) => {
    const rows: Awaited<ReturnType<typeof change>> = [];
    for (let at = 0; at < keys.length && rows.length < most;) {
      const part = keys.slice(at, at + most - rows.length);
      at += part.length;
      rows.push(...(await changePart(part, change)));
    }
    return rows;
  };
  /** Changes the rows, or else each half of them. */
  async function changePart<Key extends RowKey, Row>(
    keys: readonly Key[],
    change: (keys: readonly Key[]) => Promise<Row[]>,
  ): Promise<Row[]> {
    await tx.query('SAVEPOINT part');
    try {
      const rows = await change(keys);
      await tx.query('RELEASE SAVEPOINT part');
      return rows;
    } catch (error) {
      if (!isRefusal(error) || ++refused > MOST_REFUSED * HALVINGS) throw error;
      await tx.query('ROLLBACK TO SAVEPOINT part');
      if (keys.length === 1) {
        logRefused(idOf(keys[0]!), error);
        return [];
      }
    }
    const half = Math.ceil(keys.length / 2);
    return [
      ...(await changePart(keys.slice(0, half), change)),
      ...(await changePart(keys.slice(half), change)),
    ];
  }
  return changeRows;
}
