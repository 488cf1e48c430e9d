import { useSyncExternalStore, type MouseEvent, type ReactNode } from 'react';
import { pathOf, routeOf, type Filters, type PageName, type Route } from '../rules/route.js';

/** Dispatches the event that the browser dispatches after Back, so that all components read the new address. */
const tell = () => window.dispatchEvent(new PopStateEvent('popstate'));

function subscribe(listener: () => void): () => void {
  window.addEventListener('popstate', listener);
  return () => window.removeEventListener('popstate', listener);
}

export function navigate(path: string): void {
  window.history.pushState(null, '', path);
  window.scrollTo(0, 0);
  tell();
}

/** Replaces the address, so that Back leaves the page instead of undoing a filter. */
export function replacePath(path: string): void {
  window.history.replaceState(null, '', path);
  tell();
}

export const replaceFilters = (page: PageName, filters: Filters): void =>
  replacePath(pathOf(page, undefined, filters));

export function useRoute(): Route {
  const href = useSyncExternalStore(subscribe, () => window.location.pathname + window.location.search);
  const url = new URL(href, window.location.origin);
  return routeOf(url.pathname, url.search);
}

interface Props {
  readonly to: PageName;
  readonly id?: string;
  readonly filters?: Filters;
  readonly isCurrent?: boolean;
  readonly children: ReactNode;
}

/** A link to a page of the console. With Ctrl or the middle button, the browser opens it in a new tab. */
export function Link({ to, id, filters, isCurrent = false, children }: Props) {
  const path = pathOf(to, id, filters);
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    navigate(path);
  };
  return (
    <a href={path} onClick={follow} aria-current={isCurrent ? 'page' : undefined}>
      {children}
    </a>
  );
}
