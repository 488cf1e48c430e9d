import { texts } from '../texts.js';
import { PREFIX } from './prefix.js';

/** The pages, by the part of the path after /console. */
export type PageName = keyof typeof texts.pages;

/** Filters, which must not identify a person. A searched reference or EAN is never in the URL. */
export type Filters = Readonly<Record<string, string>>;

export interface Route {
  readonly page: PageName | 'unknown';
  /** What the page is about, such as a session or a user. */
  readonly id: string | null;
  readonly filters: Filters;
}

/** Returns the path of the first page. Without its proxy, the service is opened below no prefix. */
export const baseOf = (pathname: string, prefix: string): string =>
  /^\/console(\/|$)/.test(pathname) ? '/console' : `${prefix}/console`;

export const BASE = baseOf(globalThis.location?.pathname ?? '', PREFIX);

/** Returns the path of a page. Omits empty filters. */
export function pathOf(page: PageName, id?: string, filters: Filters = {}): string {
  const path = [BASE, page, id].filter(Boolean).join('/');
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== '')).toString();
  return query === '' ? path : `${path}?${query}`;
}
