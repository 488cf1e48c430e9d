import type { SessionRow } from '../store/session-views.store.js';
import type { SessionView } from './sessions.dto.js';

/**
 * Returns a session for an API response. Field by field, because copying the row without some of its fields took longer than all of this.
 */
export const sessionView = (session: SessionRow, startUrl: string | null): SessionView => ({
  id: session.id,
  userId: session.userId,
  gridLocationId: session.gridLocationId,
  tenantReference: session.tenantReference,
  brand: session.brand,
  metadata: session.metadata,
  state: session.state,
  basis: session.basis,
  finished: session.finished,
  active: session.active,
  expired: session.expired,
  startUrl,
  inverters: session.inverters,
  createdAt: session.createdAt.toISOString(),
  updatedAt: session.updatedAt.toISOString(),
  expiresAt: session.expiresAt.toISOString(),
  checkedAt: session.checkedAt.toISOString(),
  nextCheckAt: session.nextCheckAt?.toISOString() ?? null,
  closedAt: session.closedAt?.toISOString() ?? null,
});
