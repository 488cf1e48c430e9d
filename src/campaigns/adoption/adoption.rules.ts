import type { RemoteUser } from '../../users/remote/remote-user.rules.js';

export interface AdoptedSession {
  readonly id: string;
  readonly gridLocationId: string;
  readonly brand: string | null;
}

/** What exists at the remote service, as the tenant says. */
export interface Adoption {
  readonly user: RemoteUser;
  readonly sessions: readonly AdoptedSession[];
}

const instant = (at: unknown): Date | null => (typeof at === 'string' ? new Date(at) : null);

/** Returns the user as it was before it was stored as JSON. */
export const restoredUser = (user: RemoteUser): RemoteUser => ({
  ...user,
  createdAt: instant(user.createdAt),
  updatedAt: instant(user.updatedAt),
});
