import { keepPreviousData, QueryClient, useQuery } from '@tanstack/react-query';
import type { paths } from '#client/openapi.js';
import { readPage } from '#client/pages.js';
import { isTemporary } from '#client/problem.js';
import { POLL_MS, useLive } from './live.js';
import { firstDay } from '../rules/funnel.js';
import { client } from './client.js';

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < 1 && isTemporary(error),
      // The service may be reachable on the loopback although the browser believes that it is offline.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

/** Reads the visible data about these subjects again. A subject is the first part of a query key. */
export const invalidate = (...subjects: string[]) =>
  Promise.all(subjects.map((subject) => queries.invalidateQueries({ queryKey: [subject] })));

/**
 * Returns what to do when an act has ended that may have changed these subjects: they are read again. A success waits for that, so that
 * the act is not done twice; a failure is shown at once.
 */
export const readAgain =
  (subjects: readonly string[]) =>
  (_result: unknown, error: Error | null): Promise<unknown> | undefined => {
    const read = invalidate(...subjects);
    return error === null ? read : undefined;
  };

/**
 * Returns the interval at which to read a list, or false. Events tell when a list has changed, so it is read regularly only while no events
 * arrive, or if it changes without events (`unannounced`).
 */
export function useInterval(unannounced = false): number | false {
  return useLive().kind === 'live' && !unannounced ? false : POLL_MS;
}

/** The status also changes without events, so it is read regularly. */
export const useStatus = () =>
  useQuery({
    queryKey: ['status'],
    queryFn: async () => (await client.GET('/api/v1/status')).data,
    refetchInterval: POLL_MS,
  });

/** The service stores one sample a minute. */
const HISTORY_MS = 60_000;

/** Reads the history of the status of the last hours. */
export const useHistory = (hours: number) =>
  useQuery({
    queryKey: ['history', hours],
    queryFn: async () => {
      const { data } = await client.GET('/api/v1/status/history', { params: { query: { hours } } });
      const to = Date.now() / 1_000;
      return { ...data, from: to - hours * 3_600, to };
    },
    refetchInterval: HISTORY_MS,
    placeholderData: keepPreviousData,
  });

/** Reads what is stalled, in groups by kind and cause. */
export const useStalled = () => {
  const refetchInterval = useInterval();
  return useQuery({
    queryKey: ['stalled', 'groups'],
    queryFn: async () => (await client.GET('/api/v1/stalled/groups')).data.items,
    refetchInterval,
  });
};

export const useFunnel = (days: number) => {
  const refetchInterval = useInterval();
  return useQuery({
    queryKey: ['funnel', days],
    queryFn: async () => {
      const query = { by: 'day', from: `${firstDay(new Date(), days)}T00:00:00Z` } as const;
      return (await client.GET('/api/v1/funnel', { params: { query } })).data.items;
    },
    refetchInterval,
  });
};

type AuditQuery = NonNullable<paths['/api/v1/audit-log']['get']['parameters']['query']>;

/** Reads the newest acts of people that match a query; null asks for none. Needs `admin`. */
export const useActs = (query: AuditQuery | null) => {
  const refetchInterval = useInterval();
  return useQuery({
    queryKey: ['stalled', 'acts', query],
    queryFn: async () =>
      (await client.GET('/api/v1/audit-log', { params: { query: { ...query, limit: 200 } } })).data.items,
    refetchInterval,
    placeholderData: keepPreviousData,
    enabled: query !== null,
  });
};

/** Reads a campaign; while it runs, again after `runningMs`. */
export const useCampaign = (id: string, runningMs = POLL_MS) =>
  useQuery({
    queryKey: ['campaigns', id],
    queryFn: async () => (await client.GET('/api/v1/campaigns/{id}', { params: { path: { id } } })).data,
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? runningMs : false),
  });

/** Reads the names of the newest campaigns, by their ids, without those that were only checked. */
export const useCampaigns = (isAllowed: boolean) =>
  useQuery({
    queryKey: ['campaigns', 'names'],
    queryFn: async () => {
      const { items } = await readPage(client, '/api/v1/campaigns', { limit: 200 });
      return items
        .filter(({ status }) => status !== 'checked')
        .map(({ id, name }): [string, string] => [id, name ?? id.slice(0, 8)]);
    },
    enabled: isAllowed,
  });

export const useEndpoints = () => {
  const refetchInterval = useInterval(true);
  return useQuery({
    queryKey: ['webhooks', 'endpoints'],
    queryFn: () => readPage(client, '/api/v1/webhook-endpoints', { limit: 200 }),
    refetchInterval,
  });
};

/** Reads the events that announced how responses of the remote service differed from its interface. */
export const useDrift = (isAllowed: boolean) => {
  const refetchInterval = useInterval();
  return useQuery({
    queryKey: ['drift'],
    queryFn: async () => {
      const query = { after: '0', types: 'pv.remote.contract_drift.v1', limit: 200 };
      return (await client.GET('/api/v1/events', { params: { query } })).data.items;
    },
    refetchInterval,
    enabled: isAllowed,
  });
};
