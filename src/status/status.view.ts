import { ApiProperty } from '@nestjs/swagger';
import type { TokenStatus } from '../auth/auth.service.js';
import { OPERATION_CLASSES, type OperationClass } from '../remote/outcome.rules.js';
import type { OperationStatus, RemoteStatus } from '../remote/remote-status.js';
import { ReadersView, toReadersView } from './readers.view.js';
import type { Backlog, SharedRemote } from './status.store.js';

const WORST_LAST = ['unknown', 'healthy', 'degraded', 'unavailable'] as const;

const instant = { type: String, format: 'date-time', nullable: true } as const;
const seconds = { type: 'number', description: 'In seconds; 0 if nothing waits' } as const;
const count = { type: 'integer' } as const;

export class OperationView implements OperationStatus {
  @ApiProperty({ enum: WORST_LAST, description: '`unavailable` while calls are blocked' })
  health: OperationStatus['health'];

  @ApiProperty({ enum: ['closed', 'open', 'half_open'] })
  breaker: OperationStatus['breaker'];

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'How long calls remain blocked; null if they are not',
  })
  retryAfterMs: number | null;

  @ApiProperty(instant)
  lastSuccessAt: Date | null;

  @ApiProperty(instant)
  lastErrorAt: Date | null;

  @ApiProperty({ type: String, nullable: true })
  lastError: string | null;
}

export class LimitView {
  @ApiProperty({
    ...count,
    description: 'Calls that may be in flight at once now; adapts to the capacity of the service',
  })
  current: number;

  @ApiProperty({ ...count, description: 'SCS_MAX_CONCURRENCY' })
  ceiling: number;
}

export class QueueView {
  @ApiProperty({ ...count, description: 'Calls that a caller waits for' })
  foreground: number;

  @ApiProperty(count)
  background: number;
}

export class OperationsView implements Record<OperationClass, OperationView> {
  @ApiProperty({ type: OperationView })
  token: OperationView;

  @ApiProperty({ type: OperationView })
  register_user: OperationView;

  @ApiProperty({ type: OperationView })
  start_session: OperationView;

  @ApiProperty({ type: OperationView })
  read_session: OperationView;
}

export class DegradedOperationView {
  @ApiProperty({ enum: OPERATION_CLASSES })
  operation: string;

  @ApiProperty({ enum: ['degraded', 'credentials_rejected'] })
  health: 'degraded' | 'credentials_rejected';

  @ApiProperty({ type: String, format: 'date-time' })
  since: Date;

  @ApiProperty({ type: String })
  reason: string;
}

export class DeploymentView implements SharedRemote {
  @ApiProperty({ type: [DegradedOperationView], description: 'Announced by an event when it begins' })
  degraded: readonly DegradedOperationView[];

  @ApiProperty({
    ...count,
    description:
      'The number of ways in which its responses differ from the interface description (admin.contract_drift)',
  })
  contractDrift: number;
}

export class RemoteView implements RemoteStatus {
  @ApiProperty({ enum: WORST_LAST, description: 'The worst health of its operations' })
  health: OperationStatus['health'];

  @ApiProperty({ type: LimitView })
  limit: LimitView;

  @ApiProperty(count)
  inFlight: number;

  @ApiProperty({ type: QueueView, description: 'Calls that wait for their turn' })
  queued: QueueView;

  @ApiProperty({ type: OperationsView, description: 'Each operation has its own circuit breaker' })
  operations: OperationsView;

  @ApiProperty({ type: DeploymentView, description: 'The state shared by all replicas' })
  deployment: DeploymentView;
}

export class TokenView implements TokenStatus {
  @ApiProperty({ enum: ['none', 'valid', 'expired', 'on_trial', 'rejected'] })
  state: TokenStatus['state'];

  @ApiProperty({ ...count, description: 'Counts the tokens obtained' })
  generation: number;

  @ApiProperty({ type: 'integer', nullable: true })
  ageSeconds: number | null;

  @ApiProperty(instant)
  obtainedAt: Date | null;

  @ApiProperty(instant)
  renewAt: Date | null;

  @ApiProperty(instant)
  expiresAt: Date | null;

  @ApiProperty({ type: String, nullable: true, description: '`expires_in` as received from the service' })
  expiresInRaw: string | null;

  @ApiProperty({ type: String, nullable: true })
  tokenType: string | null;

  @ApiProperty(instant)
  rejectedAt: Date | null;

  @ApiProperty(count)
  failures: number;

  @ApiProperty({ type: String, nullable: true })
  lastError: string | null;

  @ApiProperty(instant)
  nextAttemptAt: Date | null;
}

export class PollerView {
  @ApiProperty({ ...count, description: 'Watched sessions' })
  watched: number;

  @ApiProperty({ ...count, description: 'Sessions that are due but not being read yet' })
  overdue: number;

  @ApiProperty(seconds)
  oldestOverdueSeconds: number;

  @ApiProperty({ ...count, description: 'Sessions that workers have claimed now' })
  reading: number;

  @ApiProperty(count)
  batches: number;

  @ApiProperty({ ...count, description: 'Batches whose lease has lapsed; another worker takes them over' })
  abandonedBatches: number;
}

export class OutboxView {
  @ApiProperty({ ...count, description: 'Events that have no sequence number yet' })
  unsequenced: number;

  @ApiProperty(seconds)
  oldestUnsequencedSeconds: number;

  @ApiProperty({
    type: ReadersView,
    description:
      'Each reader has its own place, so none waits for another. The feed stores no place; its readers do',
  })
  readers: ReadersView;
}

export class OpenRegistrationsView {
  @ApiProperty({ ...count, description: 'Registrations that are sent again automatically' })
  pending: number;

  @ApiProperty(seconds)
  oldestPendingSeconds: number;

  @ApiProperty({ ...count, description: 'Registrations on which a person has to decide' })
  uncertain: number;

  @ApiProperty(seconds)
  oldestUncertainSeconds: number;
}

export class StatusView {
  @ApiProperty({ type: RemoteView, description: 'The remote service as the responding replica sees it' })
  remote: RemoteView;

  @ApiProperty({
    type: TokenView,
    description: 'The access token of the whole deployment, without its value',
  })
  token: TokenView;

  @ApiProperty({ type: PollerView })
  poller: PollerView;

  @ApiProperty({ type: OutboxView })
  outbox: OutboxView;

  @ApiProperty({ type: OpenRegistrationsView })
  registrations: OpenRegistrationsView;
}

export function toStatusView(
  remote: RemoteStatus,
  deployment: SharedRemote,
  token: TokenStatus,
  backlog: Backlog,
  openStreams: number,
): StatusView {
  const ranks = Object.values(remote.operations).map(({ health }) => WORST_LAST.indexOf(health));
  const { watched, overdue, oldestOverdueSeconds, reading, batches, abandonedBatches } = backlog;
  const { unsequenced, oldestUnsequencedSeconds } = backlog;
  const { pending, oldestPendingSeconds, uncertain, oldestUncertainSeconds } = backlog;
  return {
    remote: { health: WORST_LAST[Math.max(...ranks)] ?? 'unknown', ...remote, deployment },
    token,
    poller: { watched, overdue, oldestOverdueSeconds, reading, batches, abandonedBatches },
    outbox: { unsequenced, oldestUnsequencedSeconds, readers: toReadersView(backlog, openStreams) },
    registrations: { pending, oldestPendingSeconds, uncertain, oldestUncertainSeconds },
  };
}
