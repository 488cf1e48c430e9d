import { PREFIX } from './prefix.js';

/** The pages, by the part of the path after /console. */
export const PAGES = {
  '': 'On duty',
  stalled: 'Stalled',
  sessions: 'Sessions',
  customers: 'Customers',
  registrations: 'Registrations',
  webhooks: 'Webhooks',
  campaigns: 'Campaigns',
} as const;

export type PageName = keyof typeof PAGES;

/** Filters, which must not identify a person. A searched reference or EAN is never in the URL. */
export type Filters = Readonly<Record<string, string>>;

export interface Route {
  readonly page: PageName | 'unknown';
  /** The session or user that the page is about. */
  readonly id: string | null;
  readonly filters: Filters;
}

const BASE = `${PREFIX}/console`;

/** Returns the page at a path. Also finds it without the path of PUBLIC_URL, because the service can be opened without its proxy. */
export function routeOf(pathname: string, search = '', prefix = PREFIX): Route {
  const path = pathname.startsWith(`${prefix}/console`) ? pathname.slice(prefix.length) : pathname;
  const [base, page = '', id = null, ...rest] = path.split('/').filter(Boolean);
  const isKnown = base === 'console' && Object.hasOwn(PAGES, page) && rest.length === 0;
  return {
    page: isKnown ? (page as PageName) : 'unknown',
    id,
    filters: Object.fromEntries(new URLSearchParams(search)),
  };
}

/** Returns the path of a page. Omits empty filters. */
export function pathOf(page: PageName, id?: string, filters: Filters = {}): string {
  const path = [BASE, page, id].filter(Boolean).join('/');
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== '')).toString();
  return query === '' ? path : `${path}?${query}`;
}
