/** The pages, by the part of the path after /console. */
export const PAGES = {
  '': 'On duty',
  stuck: 'Stuck',
  sessions: 'Sessions',
  customers: 'Customers',
  registrations: 'Registrations',
  webhooks: 'Webhooks',
  campaigns: 'Campaigns',
} as const;

export type PageName = keyof typeof PAGES;

export interface Route {
  readonly page: PageName | 'unknown';
  /** The session or user that the page is about. */
  readonly id: string | null;
  /** Filters that name no person. A searched reference or EAN is never in the URL. */
  readonly filters: Readonly<Record<string, string>>;
}

const BASE = '/console';

export function routeOf(pathname: string, search = ''): Route {
  const [page = '', id = null, ...rest] = pathname.slice(BASE.length).split('/').filter(Boolean);
  const isKnown = pathname.startsWith(BASE) && Object.hasOwn(PAGES, page) && rest.length === 0;
  return {
    page: isKnown ? (page as PageName) : 'unknown',
    id,
    filters: Object.fromEntries(new URLSearchParams(search)),
  };
}

export function pathOf(page: PageName, id?: string, filters: Readonly<Record<string, string>> = {}): string {
  const path = [BASE, page, id].filter(Boolean).join('/');
  const query = new URLSearchParams(filters).toString();
  return query === '' ? path : `${path}?${query}`;
}
