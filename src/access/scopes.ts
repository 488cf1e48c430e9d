/** The scopes of a key; `admin` includes all others. A CHECK in the database has the same list. */
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

/** The caller: an app's key, or the administrator key of the environment, which has no row and therefore no id. */
export interface Principal {
  readonly id: string | null;
  readonly name: string;
  readonly scopes: readonly Scope[];
}

export function hasScope(principal: Pick<Principal, 'scopes'>, scope: Scope): boolean {
  return principal.scopes.includes(scope) || principal.scopes.includes('admin');
}

/** Returns the name of a principal in the audit log and in `created_by`. */
export function actorOf(principal: Principal): string {
  return principal.id === null ? principal.name : `key:${principal.id}`;
}
