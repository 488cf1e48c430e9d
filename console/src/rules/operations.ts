import type { Status } from '../api/client.js';
import { formatSeconds } from '../format/duration.js';

export type OperationName = keyof Status['remote']['operations'];

export const OPERATIONS: Readonly<Record<OperationName, string>> = {
  token: 'Access token',
  register_user: 'Register a user',
  start_session: 'Start a session',
  read_session: 'Read a session',
};

export interface OperationRow {
  readonly name: OperationName;
  /** The worst of what the responding replica and the whole deployment say. */
  readonly health: 'unknown' | 'healthy' | 'slow' | 'degraded' | 'blocked';
  /** Successful calls of all live replicas in the last 5 minutes, at most 20 of each. */
  readonly calls: number;
  /** Of these, those that took over 2 seconds. */
  readonly slow: number;
  readonly lastSuccessAt: string | null;
  readonly lastError: string | null;
  readonly lastErrorAt: string | null;
  /** Who holds calls back, in words; null if nobody does. */
  readonly heldBack: string | null;
}

export function operationRows({ remote, replicas }: Status): OperationRow[] {
  return (Object.keys(OPERATIONS) as OperationName[]).map((name) => {
    const operation = remote.operations[name];
    const latest = replicas
      .filter(({ isAlive }) => isAlive)
      .flatMap(({ latestCalls }) => latestCalls.filter((each) => each.operation === name));
    const trouble = remote.deployment.degraded.find((each) => each.operation === name);
    const isSlow = replicas.some(({ isAlive, slow }) => isAlive && slow.includes(name));
    return {
      name,
      health: healthOf(operation.health, trouble !== undefined, isSlow),
      calls: latest.reduce((sum, { calls }) => sum + calls, 0),
      slow: latest.reduce((sum, { slow }) => sum + slow, 0),
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
