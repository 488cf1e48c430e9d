/** The lists of the console, by the first part of their query key. */
export type Subject =
  | 'status'
  | 'stalled'
  | 'sessions'
  | 'session'
  | 'timeline'
  | 'registrations'
  | 'webhooks'
  | 'campaigns'
  | 'customers'
  | 'invitations'
  | 'keys'
  | 'audit'
  | 'funnel'
  | 'drift';

/** Returns the subjects of the lists that an event of this type has changed. */
export function changedBy(type: string): readonly Subject[] {
  const [, group = ''] = type.split('.');
  switch (group) {
    case 'user':
      return ['status', 'registrations', 'customers'];
    case 'session':
    case 'inverter':
      return ['status', 'sessions', 'session', 'timeline', 'customers', 'funnel'];
    case 'stall':
      return [
        'status',
        'stalled',
        'registrations',
        'sessions',
        'session',
        'timeline',
        'customers',
        'invitations',
        'webhooks',
      ];
    case 'invitation':
      return ['customers', 'funnel', 'invitations'];
    case 'campaign':
      return ['campaigns'];
    case 'webhook_endpoint':
      return ['status', 'webhooks'];
    case 'remote':
      return ['status', 'drift'];
    default:
      return ['status'];
  }
}
