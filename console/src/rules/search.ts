import type { Hit } from '../api/client.js';
import type { Target } from './stalled.js';

/** What a search shows: the page of a session, or the customer that was meant, and the other hits as links. */
export interface Found {
  readonly sessionId: string | null;
  readonly tenantReference: string | null;
  readonly others: readonly Hit[];
}

/** Decides what the hits of a search show. A whole reference means this customer, although others begin with it. */
export function foundBy(hits: readonly Hit[], text: string): Found {
  const [only] = hits;
  if (hits.length === 1 && only?.kind === 'session')
    return { sessionId: only.id, tenantReference: null, others: [] };
  const references = [...new Set(hits.flatMap(({ tenantReference }) => tenantReference ?? []))];
  const typed = text.trim().normalize('NFC');
  const meant = references.find((each) => each === typed) ?? null;
  const tenantReference = references.length === 1 ? references[0]! : meant;
  return {
    sessionId: null,
    tenantReference,
    others: hits.filter((hit) => hit.tenantReference === null || hit.tenantReference !== tenantReference),
  };
}

/** Returns the page about a hit. That of a customer takes the id of a registration or an invitation, too. */
export function pageOf({ kind, id }: Pick<Hit, 'kind' | 'id'>): Target {
  if (kind === 'session') return { to: 'sessions', id };
  return { to: kind === 'campaign' ? 'campaigns' : 'customers', id };
}
