import type { Schemas } from '#client/client.js';
import type { PageName } from './route.js';

export type Scope = Schemas['NewApiKey']['scopes'][number];
/** Returns whether the person who is signed in has a scope. */
export type May = (scope: Scope) => boolean;

/** `admin` includes all other scopes. */
export const mayIn =
  (scopes: readonly string[]): May =>
  (scope) =>
    scopes.includes(scope) || scopes.includes('admin');

/** The scopes that each page needs. */
export const NEEDED: Readonly<Record<PageName, readonly Scope[]>> = {
  '': ['onboarding:read'],
  stuck: ['onboarding:read'],
  sessions: ['onboarding:read'],
  customers: ['users:read', 'onboarding:read'],
  registrations: ['users:read'],
  webhooks: ['webhooks:manage'],
  campaigns: ['users:read'],
};
