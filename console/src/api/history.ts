import type { Status } from './client.js';

export interface TrendPoint {
  readonly at: Date;
  readonly value: number;
}

// The service stores no figures over time; Prometheus does. The console shows what it has seen since it was opened.
const SERIES = {
  readsPerSecond: ({ poller }: Status) => poller?.readsPerSecond ?? 0,
  latenessSeconds: ({ poller }: Status) => poller?.oldestOverdueSeconds ?? 0,
  undelivered: ({ outbox: { readers } }: Status) =>
    readers.webhooks.undelivered + readers.handlers.undelivered + (readers.broker?.unpublished ?? 0),
  slowShare: ({ replicas }: Status) => {
    const calls = replicas.filter(({ isAlive }) => isAlive).flatMap(({ latestCalls }) => latestCalls);
    const all = calls.reduce((sum, each) => sum + each.calls, 0);
    return all === 0 ? 0 : (100 * calls.reduce((sum, each) => sum + each.slow, 0)) / all;
  },
} as const;

type SeriesName = keyof typeof SERIES;

/** Two hours at one reading in ten seconds. */
const MOST = 720;

let history: Readonly<Record<SeriesName, readonly TrendPoint[]>> = {
  readsPerSecond: [],
  latenessSeconds: [],
  undelivered: [],
  slowShare: [],
};

export function remember(status: Status, at: Date): void {
  const add = (name: SeriesName) => [...history[name].slice(1 - MOST), { at, value: SERIES[name](status) }];
  history = {
    readsPerSecond: add('readsPerSecond'),
    latenessSeconds: add('latenessSeconds'),
    undelivered: add('undelivered'),
    slowShare: add('slowShare'),
  };
}

/** Returns the values of a figure since the console was opened. */
export const seriesOf = (name: SeriesName): readonly TrendPoint[] => history[name];
