import { keepPreviousData, QueryClient, useQuery } from '@tanstack/react-query';
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
      // The service may be reachable on the loopback while the browser believes to be offline.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

/** Reads again what is shown of these lists, by the first part of their query key. */
export const invalidate = (...subjects: string[]) =>
  Promise.all(subjects.map((subject) => queries.invalidateQueries({ queryKey: [subject] })));

/** Lists are read when an event changes them. Without events, they are read regularly, as are lists that change `unannounced`. */
export function useInterval(unannounced = false): number | false {
  return useLive().kind === 'live' && !unannounced ? false : POLL_MS;
}

/** The status changes without events too. */
export const useStatus = () =>
  useQuery({
    queryKey: ['status'],
    queryFn: async () => (await client.GET('/api/v1/status')).data,
    refetchInterval: POLL_MS,
  });

/** The service stores one sample a minute. */
const HISTORY_MS = 60_000;

/** The status of the last hours. */
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

/** The service asks clients to read this at most once a minute, because it reads every open session. */
const STUCK_MS = 60_000;

export const useStuck = () =>
  useQuery({
    queryKey: ['stuck'],
    queryFn: async () => (await client.GET('/api/v1/stuck/groups')).data.items,
    staleTime: STUCK_MS,
    refetchInterval: STUCK_MS,
  });

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

export const useEndpoints = () => {
  const refetchInterval = useInterval(true);
  return useQuery({
    queryKey: ['webhooks', 'endpoints'],
    queryFn: () => readPage(client, '/api/v1/webhook-endpoints', { limit: 200 }),
    refetchInterval,
  });
};

/** The ways in which responses of the remote service differed from its interface, as they were announced. */
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
