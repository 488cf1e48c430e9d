export const HEALTHS = ['healthy', 'degraded'] as const;

/** The worst first. */
export const REASON_CODES = [
  'tables_locked',
  'no_worker',
  'credentials_rejected',
  'remote_degraded',
  'remote_slow',
  'held_back_by_remote_service',
  'held_back_by_breaker',
  'held_back_by_ceiling',
  'budget_short',
  'reads_stale',
  'sessions_overdue',
  'events_unsequenced',
  'reader_behind',
  'webhooks_failing',
  'starts_abandoned',
  'registrations_uncertain',
  'sessions_doubtful',
] as const;
