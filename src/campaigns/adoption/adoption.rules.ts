import type { RemoteUser } from '../../users/remote/remote-user.rules.js';

export interface AdoptedSession {
  readonly id: string;
  readonly gridLocationId: string;
  readonly brand: string | null;
}

/** A user and sessions that exist at the remote service, according to the tenant. */
export interface Adoption {
  readonly user: RemoteUser;
  readonly sessions: readonly AdoptedSession[];
}

const instant = (at: unknown): Date | null => (typeof at === 'string' ? new Date(at) : null);

/** Returns the user, as read from JSON, with its times as Dates. */
export const restoredUser = (user: RemoteUser): RemoteUser => ({
  ...user,
  createdAt: instant(user.createdAt),
  updatedAt: instant(user.updatedAt),
});
