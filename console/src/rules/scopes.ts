import type { Schemas } from '#client/client.js';
import { texts } from '../texts.js';
import type { PageName } from './route.js';

export type Scope = Schemas['NewApiKey']['scopes'][number];
/** Returns whether the person who is signed in has a scope. */
export type May = (scope: Scope) => boolean;

/** `admin` includes all other scopes. */
export const mayIn =
  (scopes: readonly string[]): May =>
  (scope) =>
    scopes.includes(scope) || scopes.includes('admin');

/** The scopes that each page needs, of each list one. */
const NEEDED: Readonly<Record<PageName, readonly (readonly Scope[])[]>> = {
  '': [['onboarding:read']],
  stalled: [['onboarding:read', 'users:read', 'webhooks:manage']],
  sessions: [['onboarding:read']],
  customers: [['users:read'], ['onboarding:read']],
  registrations: [['users:read']],
  webhooks: [['webhooks:manage']],
  invitations: [['onboarding:read']],
  campaigns: [['users:read']],
  brands: [['onboarding:read']],
  keys: [['admin']],
  audit: [['admin']],
};

/**
 * Returns the page with which a person begins: the one who decides or is on duty at that of the night, the one who only knows customers at
 * these, the one who manages integrations at these.
 */
export function homeFor(may: May): PageName {
  const isOnDuty = may('registrations:decide') || (may('webhooks:manage') && may('users:read'));
  if (!isOnDuty && may('users:read')) return 'customers';
  return !isOnDuty && may('webhooks:manage') ? 'webhooks' : '';
}

/** Returns the scopes that a person lacks to open a page, in words; null if the person may open it. */
export function missingFor(page: PageName, may: May): string | null {
  const missing = NEEDED[page].filter((scopes) => !scopes.some(may));
  return missing.length === 0 ? null : texts.app.scopes(missing);
}
