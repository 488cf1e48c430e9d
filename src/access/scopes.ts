/** What a key may be allowed; `admin` includes all others. The database holds the same list in a CHECK. */
export const SCOPES = [
  'users:read',
  'users:write',
  'onboarding:read',
  'onboarding:write',
  'events:read',
  'webhooks:manage',
  'admin',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Who calls: an app's key, or the administrator key of the environment, which has no row and so no id. */
export interface Principal {
  readonly id: string | null;
  readonly name: string;
  readonly scopes: readonly Scope[];
}

export function hasScope(principal: Pick<Principal, 'scopes'>, scope: Scope): boolean {
  return principal.scopes.includes(scope) || principal.scopes.includes('admin');
}

/** How a principal is named in the audit log and in `created_by`. */
export function actorOf(principal: Principal): string {
  return principal.id === null ? principal.name : `key:${principal.id}`;
}
