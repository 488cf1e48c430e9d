import type { Scope } from '../access/scopes.js';
import type { StallKind } from '../stalls/cause.rules.js';

/** The scope of a key that may read the stalls of a kind: that of its subjects. */
export const SCOPE_OF_KIND = {
  registration: 'users:read',
  start: 'onboarding:read',
  session: 'onboarding:read',
  invitation: 'onboarding:read',
  inverter: 'onboarding:read',
  endpoint: 'webhooks:manage',
} as const satisfies Readonly<Record<StallKind, Scope>>;

/** The scopes of a key that may work on the stalls of a kind: one of them is enough. */
export const WRITE_SCOPES_OF_KIND = {
  registration: ['users:write', 'registrations:decide'],
  start: ['onboarding:write'],
  session: ['onboarding:write'],
  invitation: ['onboarding:write', 'invitations:write'],
  inverter: ['onboarding:write'],
  endpoint: ['webhooks:manage'],
} as const satisfies Readonly<Record<StallKind, readonly Scope[]>>;
