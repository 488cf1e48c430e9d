import type { Client } from './client.js';
import type { paths } from './openapi.js';

/** The item of a page; never if the response is not a page. Of several responses, that which is a page. */
type ItemIn<Content> = Content extends { items: (infer Item)[]; next: infer Next }
  ? null extends Next
    ? Item
    : never
  : never;
/** The item of a list; never if the path is not a list with a cursor. */
export type ItemOf<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': infer Content } } } };
}
  ? ItemIn<Content>
  : never;
export type ListPath = { [P in keyof paths]: [ItemOf<P>] extends [never] ? never : P }[keyof paths];
type QueryOf<P extends ListPath> = NonNullable<paths[P]['get']['parameters']['query']>;

interface Page<Item> {
  readonly items: Item[];
  /** The `cursor` of the next page; null if there is none. */
  readonly next: string | null;
}

/** Reads one page of a list. `query` has its filters, `cursor`, and `limit`, the size of a page. */
export async function readPage<P extends ListPath>(
  client: Client,
  path: P,
  query: QueryOf<P> = {},
): Promise<Page<ItemOf<P>>> {
  const read = client.GET as unknown as (
    path: P,
    init: { params: { query: object } },
  ) => Promise<{ data: Page<ItemOf<P>> }>;
  return (await read(path, { params: { query } })).data;
}

/** Reads a list page by page. `query` has its filters, and `limit`, the size of a page. */
export async function* pages<P extends ListPath>(
  client: Client,
  path: P,
  query?: QueryOf<P>,
): AsyncGenerator<ItemOf<P>[], void, undefined> {
  let next = query?.cursor ?? null;
  do {
    const page = await readPage(client, path, { ...query, ...(next !== null && { cursor: next }) });
    yield page.items;
    ({ next } = page);
  } while (next !== null);
}

/** Reads a list item by item, over all pages. */
export async function* items<P extends ListPath>(
  client: Client,
  path: P,
  query?: QueryOf<P>,
): AsyncGenerator<ItemOf<P>, void, undefined> {
  for await (const page of pages(client, path, query)) yield* page;
}
