import { ApiProperty } from '@nestjs/swagger';
import type { TokenStatus } from '../auth/auth.service.js';
import { OPERATION_CLASSES, type OperationClass } from '../remote/outcome.rules.js';
import type { OperationStatus, RemoteStatus } from '../remote/remote-status.js';
import { ReadersView, toReadersView } from './readers.view.js';
import type { Backlog, SharedRemote } from './status.store.js';

const WORST_LAST = ['unknown', 'healthy', 'degraded', 'unavailable'] as const;

const instant = { type: String, format: 'date-time', nullable: true } as const;
const seconds = { type: 'number', description: 'In seconds; 0 when nothing waits' } as const;
const count = { type: 'integer' } as const;

export class OperationView implements OperationStatus {
  @ApiProperty({ enum: WORST_LAST, description: '`unavailable` while calls are held back' })
  health: OperationStatus['health'];

  @ApiProperty({ enum: ['closed', 'open', 'half_open'] })
  breaker: OperationStatus['breaker'];

  @ApiProperty({ type: 'integer', nullable: true, description: 'How long calls are still held back' })
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
    description: 'Calls that may be in flight at once now; adapts to what the service takes',
  })
  current: number;

  @ApiProperty({ ...count, description: 'SCS_MAX_CONCURRENCY' })
  ceiling: number;
}

export class QueueView {
  @ApiProperty({ ...count, description: 'Calls that somebody waits for' })
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
  @ApiProperty({ type: [DegradedOperationView], description: 'Announced as events when it began' })
  degraded: readonly DegradedOperationView[];

  @ApiProperty({
    ...count,
    description: 'In how many ways its answers differ from the interface description (admin.contract_drift)',
  })
  contractDrift: number;
}

export class RemoteView implements RemoteStatus {
  @ApiProperty({ enum: WORST_LAST, description: 'The worst of the operations' })
  health: OperationStatus['health'];

  @ApiProperty({ type: LimitView })
  limit: LimitView;

  @ApiProperty(count)
  inFlight: number;

  @ApiProperty({ type: QueueView, description: 'Calls that wait for their turn' })
  queued: QueueView;

  @ApiProperty({ type: OperationsView, description: 'Each has a breaker of its own' })
  operations: OperationsView;

  @ApiProperty({ type: DeploymentView, description: 'What all replicas together know' })
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

  @ApiProperty({ type: String, nullable: true, description: '`expires_in` as the service answered it' })
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
  @ApiProperty({ ...count, description: 'Sessions that are watched' })
  watched: number;

  @ApiProperty({ ...count, description: 'Sessions that are due and that nobody reads yet' })
  overdue: number;

  @ApiProperty(seconds)
  oldestOverdueSeconds: number;

  @ApiProperty({ ...count, description: 'Sessions that workers hold now' })
  reading: number;

  @ApiProperty(count)
  batches: number;

  @ApiProperty({ ...count, description: 'Batches of workers that died; another takes them over' })
  abandonedBatches: number;
}

export class OutboxView {
  @ApiProperty({ ...count, description: 'Events that no reader has given their place in the feed yet' })
  unsequenced: number;

  @ApiProperty(seconds)
  oldestUnsequencedSeconds: number;

  @ApiProperty({
    type: ReadersView,
    description:
      'Each has a place of its own, so none waits for another. The feed keeps none, its readers do',
  })
  readers: ReadersView;
}

export class OpenRegistrationsView {
  @ApiProperty({ ...count, description: 'Sent again by themselves' })
  pending: number;

  @ApiProperty(seconds)
  oldestPendingSeconds: number;

  @ApiProperty({ ...count, description: 'A person has to decide' })
  uncertain: number;

  @ApiProperty(seconds)
  oldestUncertainSeconds: number;
}

export class StatusView {
  @ApiProperty({ type: RemoteView, description: 'How the replica that answers finds the remote service' })
  remote: RemoteView;

  @ApiProperty({ type: TokenView, description: 'The access token of the whole deployment; never its value' })
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
