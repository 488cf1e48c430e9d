/** The tabs of the duty page after the first, which has no charts. */
export const VIEWS = {
  past: 'What was wrong',
  remote: 'Remote service',
  freshness: 'Freshness',
  customers: 'Customers',
  events: 'Events',
  processes: 'Processes',
} as const;
export type View = keyof typeof VIEWS;

/** The time ranges of the charts, by their hours. */
export const RANGES = { 1: '1 h', 24: '24 h', 168: '7 d' } as const;
export type Hours = keyof typeof RANGES;
