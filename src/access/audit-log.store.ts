import type { Transaction } from '../platform/database/database.js';
import type { Prisma } from '../platform/database/generated/client.js';
import { currentRequest } from '../platform/http/request-context.js';

export interface AuditEntry {
  /** The result of `actorOf`, or a name such as `cli` for an action without an API key. */
  readonly actor: string;
  /** An object and a past participle, such as `api_key.created`. */
  readonly action: string;
  readonly target?: string;
  /** Must not contain secrets or personal data, because erasing a user does not change this field. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Clears the request ids of entries about these targets. Callers choose request ids, so an id may be personal. */
export async function eraseRequestIds({ prisma }: Transaction, targets: string[]): Promise<void> {
  await prisma.auditEntry.updateMany({ where: { target: { in: targets } }, data: { requestId: null } });
}

/** Records who did what. Pass the transaction of the change, so that change and entry commit together. */
export async function recordAudit(
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

/** Returns whether an entry about this target has this action, if one is given, and these details among others. */
export async function isAudited(
  { query }: Pick<Transaction, 'query'>,
  { target, action = null, details = {} }: { target: string; action?: string | null; details?: object },
): Promise<boolean> {
  const text = `
    SELECT FROM audit_log WHERE target = $1 AND ($2::text IS NULL OR action = $2) AND details @> $3::jsonb LIMIT 1`;
  return (await query(text, [target, action, JSON.stringify(details)])).length > 0;
}
