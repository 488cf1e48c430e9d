import { useInfiniteQuery, type InfiniteData, type UseInfiniteQueryResult } from '@tanstack/react-query';
import { pages, readPage, type ItemOf, type ListPath } from '#client/pages.js';
import type { paths } from '#client/openapi.js';
import type { Subject } from '../rules/invalidation.js';
import { client } from './client.js';
import { useInterval } from './queries.js';

type QueryOf<P extends ListPath> = NonNullable<paths[P]['get']['parameters']['query']>;

interface Page<Item> {
  readonly items: Item[];
  readonly next: string | null;
}

export type ListResult<Item> = UseInfiniteQueryResult<InfiniteData<Page<Item>>>;

const ITEMS_PER_PAGE = 200;

/** Reads a list, at most this many pages of 200 items. `isPart`: whether it has more. */
export async function readUpTo<P extends ListPath>(
  mostPages: number,
  path: P,
  query: QueryOf<P>,
): Promise<{ readonly items: ItemOf<P>[]; readonly isPart: boolean }> {
  const items: ItemOf<P>[] = [];
  let count = 0;
  for await (const page of pages(client, path, { ...query, limit: ITEMS_PER_PAGE })) {
    if (count++ === mostPages) return { items, isPart: true };
    items.push(...page);
  }
  return { items, isPart: false };
}

/** Reads a list page by page. Reads a further page only when a person asks for it. */
export function useList<P extends ListPath>(
  subject: Subject,
  path: P,
  query: QueryOf<P>,
  enabled = true,
): ListResult<ItemOf<P>> {
  // Deliveries cause no events, so their list is read regularly.
  const refetchInterval = useInterval(subject === 'webhooks');
  return useInfiniteQuery({
    queryKey: [subject, path, query],
    queryFn: ({ pageParam }: { pageParam: string | null }) =>
      readPage(client, path, { ...query, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval,
    enabled,
  });
}
