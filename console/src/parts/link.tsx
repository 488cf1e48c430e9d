import type { ReactNode } from 'react';
import { Link as RouterLink, useRoute as useMatch, useSearch } from 'wouter';
import { navigate as go } from 'wouter/use-browser-location';
import { texts } from '../texts.js';
import { BASE, pathOf, type Filters, type PageName, type Route } from '../rules/route.js';

export const navigate = (path: string): void => go(path);

/** Replaces the address, so that Back leaves the page instead of undoing a filter. Keeps what is known of the entry of the history. */
export const replacePath = (path: string): void =>
  go(path, { replace: true, state: history.state as unknown });

export const replaceFilters = (page: PageName, filters: Filters, id?: string): void =>
  replacePath(pathOf(page, id, filters));

export function useRoute(): Route {
  const [isMatch, params] = useMatch(`${BASE}/:page?/:id?`);
  const filters = Object.fromEntries(new URLSearchParams(useSearch()));
  const page = params?.page ?? '';
  const isKnown = isMatch && Object.hasOwn(texts.pages, page);
  return { page: isKnown ? (page as PageName) : 'unknown', id: params?.id ?? null, filters };
}

interface Props {
  readonly to: PageName;
  readonly id?: string;
  readonly filters?: Filters;
  readonly isCurrent?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A link to a page of the console. With Ctrl or the middle button, the browser opens it in a new tab. */
export const Link = ({ to, id, filters, isCurrent = false, className, children }: Props) => (
  <RouterLink
    href={pathOf(to, id, filters)}
    className={className}
    aria-current={isCurrent ? 'page' : undefined}
  >
    {children}
  </RouterLink>
);
