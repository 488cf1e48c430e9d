import type { Status } from '../api/client.js';
import { formatSeconds } from '../format/duration.js';

export type OperationName = keyof Status['remote']['operations'];

export const OPERATIONS: Readonly<Record<OperationName, string>> = {
  token: 'Access token',
  register_user: 'Register a user',
  start_session: 'Start a session',
  read_session: 'Read a session',
  pass_through: 'Calls passed on',
};

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
  const rest = retryAfterMs === null ? '' : `; ${formatSeconds(retryAfterMs / 1_000)} left`;
  switch (heldBackBy) {
    case 'remote_service': {
      const wait = requestedWaitMs === null ? '' : ` ${formatSeconds(requestedWaitMs / 1_000)}`;
      return `The remote service asked to wait${wait}${rest}`;
    }
    case 'breaker':
      return `Our breaker is open, because calls failed${rest}`;
    case 'ceiling':
      return 'Our limit SCS_MAX_REQUESTS_PER_SECOND';
    case null:
      return null;
  }
}
