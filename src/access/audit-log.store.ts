import type { Sql, Transaction } from '../platform/database/database.js';
import type { Prisma } from '../platform/database/generated/client.js';
import { subjectsOf, type PersonalData } from '../platform/database/personal-data.js';
import { currentRequest } from '../platform/http/request-context.js';
import { requireActing } from './acting-caller.js';
import { REPEATABLE_FOR } from './execution.js';

export interface AuditEntry {
  /** The result of `actorOf`; for an action without an API key, a name such as `cli`. */
  readonly actor: string;
  /** An object and a past participle, such as `api_key.created`. */
  readonly action: string;
  readonly target?: string;
  /** Must not contain secrets or personal data. The erasure of a user changes only `reason` in it, of bulk actions on the user. */
  readonly details?: Readonly<Record<string, unknown>>;
}

// Includes the bulk actions on the person, whose `reason` may name the person, and the starts.
const OF_PERSON = `t.target = ANY ($1::text[] || ARRAY(
    SELECT action_id::text FROM bulk_action_items WHERE target = ANY ($1::text[]::uuid[])
     UNION ALL SELECT id::text FROM session_starts WHERE grid_location_id = ANY ($1::text[]::uuid[])))`;

export const ERASE_REQUEST_IDS = `UPDATE audit_log AS t SET request_id = NULL WHERE ${OF_PERSON} RETURNING id`;

/** Clears the request ids of entries about a person. Callers choose request ids, so a request id may contain personal data. */
export const AUDIT_ENTRIES: PersonalData = {
  table: 'audit_log',
  where: OF_PERSON,
  order: 't.id',
  parameter: (person) => [...subjectsOf(person), ...person.inverterIds],
  erase: async (tx, person) => (await tx.query(ERASE_REQUEST_IDS, [AUDIT_ENTRIES.parameter(person)])).length,
};

/**
 * Inserts audit entries. Pass the transaction of the audited change, so that the change and its entries commit together. Throws Problem
 * unauthenticated if the caller of the request may no longer act, so that the change is rolled back.
 */
export async function recordAudit(
  tx: Pick<Transaction, 'prisma' | 'query'>,
  ...entries: readonly AuditEntry[]
): Promise<void> {
  await requireActing(tx);
  await recordDone(tx, ...entries);
}

/** Inserts audit entries about what has been done already, and was allowed then. */
export async function recordDone(
  { prisma }: Pick<Transaction, 'prisma'>,
  ...entries: readonly AuditEntry[]
): Promise<void> {
  const requestId = currentRequest()?.requestId;
  const data = entries.map(({ details = {}, ...entry }) => ({
    requestId,
    ...entry,
    details: details as Prisma.InputJsonObject,
  }));
  await prisma.auditEntry.createMany({ data });
}

export const isAudited = async (
  { prisma }: Pick<Transaction, 'prisma'>,
  where: Prisma.AuditEntryWhereInput,
): Promise<boolean> => (await prisma.auditEntry.count({ where })) > 0;

/** Whether the execution with this id has committed an entry about the target with its id as the detail `executionId`. */
export const isExecuted = async (tx: Sql, target: string, executionId: string): Promise<boolean> =>
  (await tx.query(IS_EXECUTED, [target, executionId])).length > 0;

const IS_EXECUTED = `
    SELECT FROM audit_log WHERE target = $1 AND details ->> 'executionId' = $2 AND at > clock_timestamp() - ${REPEATABLE_FOR}`;
