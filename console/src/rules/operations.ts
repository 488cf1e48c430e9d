import type { Status } from '../api/client.js';
import { texts } from '../texts.js';

export type OperationName = keyof Status['remote']['operations'];

export const OPERATIONS: Readonly<Record<OperationName, string>> = texts.operations;

export interface OperationRow {
  readonly name: OperationName;
  /** The worse of the health that the responding replica reports and the health of the whole deployment. */
  readonly health: 'unknown' | 'healthy' | 'slow' | 'degraded' | 'blocked';
  /** Calls of all live replicas in the last 5 minutes. */
  readonly calls: number;
  /** The share of these calls with a response that shows that the operation is served, from 0 to 1; null without calls. */
  readonly successShare: number | null;
  readonly p50Seconds: number | null;
  readonly p95Seconds: number | null;
  readonly lastSuccessAt: string | null;
  readonly lastError: string | null;
  readonly lastErrorAt: string | null;
  /** What blocks calls, in words; null if nothing does. */
  readonly heldBack: string | null;
}

export function operationRows({ remote, replicas }: Status): OperationRow[] {
  return (Object.keys(OPERATIONS) as OperationName[]).map((name) => {
    const operation = remote.operations[name];
    const recent = remote.deployment.calls.find((each) => each.operation === name);
    const { succeeded = 0, failed = 0, p50Seconds = null, p95Seconds = null } = recent ?? {};
    const calls = succeeded + failed;
    const trouble = remote.deployment.degraded.find((each) => each.operation === name);
    const isSlow = replicas.some(({ isAlive, slow }) => isAlive && slow.includes(name));
    return {
      name,
      health: healthOf(operation.health, trouble !== undefined, isSlow),
      calls,
      successShare: calls === 0 ? null : succeeded / calls,
      p50Seconds,
      p95Seconds,
      lastSuccessAt: operation.lastSuccessAt,
      lastError: trouble?.reason ?? operation.lastError,
      lastErrorAt: trouble?.since ?? operation.lastErrorAt,
      heldBack: heldBackBy(operation),
    };
  });
}

function healthOf(
  own: Status['remote']['operations'][OperationName]['health'],
  isTroubled: boolean,
  isSlow: boolean,
): OperationRow['health'] {
  if (own === 'unavailable') return 'blocked';
  if (isTroubled || own === 'degraded') return 'degraded';
  return isSlow ? 'slow' : own;
}

function heldBackBy({
  heldBackBy,
  retryAfterMs,
  requestedWaitMs,
}: Status['remote']['operations'][OperationName]): string | null {
  const left = retryAfterMs && retryAfterMs / 1_000;

  switch (heldBackBy) {
    case 'remote_service':
      return texts.remote.askedToWait(requestedWaitMs && requestedWaitMs / 1_000, left);
    case 'breaker':
      return texts.remote.breakerIsOpen(left);
    case 'ceiling':
      return texts.remote.ourLimitReached;
    case null:
      return null;
  }
}
