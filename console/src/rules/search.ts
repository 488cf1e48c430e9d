import type { Hit } from '../api/client.js';
import type { Target } from './stalled.js';

/** What a search shows: the only page that can be meant, or else the customer that is meant, and the other hits as links. */
export interface Found {
  readonly page: Target | null;
  readonly tenantReference: string | null;
  readonly others: readonly Hit[];
}

/** Decides what the hits of a search show. A whole reference means this customer, although others begin with it. */
export function foundBy(hits: readonly Hit[], text: string): Found {
  const [only] = hits;
  if (hits.length === 1 && only?.kind === 'session')
    return { page: pageOf(only), tenantReference: null, others: [] };
  const references = [...new Set(hits.flatMap(({ tenantReference }) => tenantReference ?? []))];
  const typed = text.trim().normalize('NFC');
  const meant = references.find((each) => each === typed) ?? null;
  const tenantReference = references.length === 1 ? references[0]! : meant;
  const others = hits.filter(
    (hit) => hit.tenantReference === null || hit.tenantReference !== tenantReference,
  );
  const isOnly = tenantReference !== null && others.length === 0;
  return { page: isOnly ? pageOf(only!) : null, tenantReference, others };
}

/** Returns the page about a hit. That of a customer takes the id of a registration or an invitation, too. */
export function pageOf({ kind, id }: Pick<Hit, 'kind' | 'id'>): Target {
  if (kind === 'session') return { to: 'sessions', id };
  return { to: kind === 'campaign' ? 'campaigns' : 'customers', id };
}
