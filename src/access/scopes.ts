import { Problem } from '../platform/problem/problem.js';

/** The scopes of a key. `admin` includes all others. A CHECK in the database contains the same list. */
export const SCOPES = [
  'users:read',
  'users:write',
  'users:erase',
  'registrations:decide',
  'onboarding:read',
  'onboarding:write',
  'invitations:write',
  'links:read',
  'events:read',
  'webhooks:manage',
  'remote:call',
  'admin',
] as const;

export type Scope = (typeof SCOPES)[number];

/** The caller: an API key, ADMIN_API_KEY, or a user of the identity provider. The last two have no row and therefore no id. */
export interface Principal {
  readonly id: string | null;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** When the caller's session of the console ends, in ms since 1970. Undefined if the caller sent a key. */
  readonly consoleUntil?: number;
}

export const hasScope = ({ scopes }: Principal, scope: Scope): boolean =>
  scopes.includes(scope) || scopes.includes('admin');

/** Throws Problem forbidden, which names the scope, if the principal lacks the scope. */
export function requireScope(principal: Principal, scope: Scope): void {
  if (!hasScope(principal, scope)) throw new Problem('forbidden', `This needs a key with the scope ${scope}`);
}

/** Throws Problem forbidden, which names the scopes, if the principal has none of them. */
export function requireAnyScope(principal: Principal, scopes: readonly Scope[]): void {
  if (!scopes.some((scope) => hasScope(principal, scope)))
    throw new Problem('forbidden', `This needs a key with one of the scopes ${scopes.join(', ')}`);
}

interface NeededScopes {
  readonly requiredScopes?: readonly Scope[];
  readonly anyScope?: readonly Scope[];
}

/** Throws Problem forbidden if the principal lacks a required scope, or has none of `anyScope`. */
export function requireScopes(principal: Principal, { requiredScopes = [], anyScope }: NeededScopes): void {
  for (const scope of requiredScopes) requireScope(principal, scope);
  if (anyScope !== undefined) requireAnyScope(principal, anyScope);
}

/** Returns the name of a principal for the audit log and `created_by`. */
export const actorOf = ({ id, name, consoleUntil }: Principal): string =>
  `${consoleUntil === undefined ? '' : 'console:'}${id === null ? name : `key:${id}`}`;
