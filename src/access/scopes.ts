/** The scopes of a key. `admin` includes all others. A CHECK in the database contains the same list. */
export const SCOPES = [
  'users:read',
  'users:write',
  'users:erase',
  'registrations:decide',
  'onboarding:read',
  'onboarding:write',
  'links:read',
  'events:read',
  'webhooks:manage',
  'admin',
] as const;

export type Scope = (typeof SCOPES)[number];

/** The caller: an API key, or ADMIN_API_KEY, which has no row and therefore no id. */
export interface Principal {
  readonly id: string | null;
  readonly name: string;
  readonly scopes: readonly Scope[];
}

export const hasScope = ({ scopes }: Principal, scope: Scope): boolean =>
  scopes.includes(scope) || scopes.includes('admin');

/** Returns the name of a principal for the audit log and `created_by`. */
export const actorOf = ({ id, name }: Principal): string => (id === null ? name : `key:${id}`);
