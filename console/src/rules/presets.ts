import type { Scope } from './scopes.js';

/** What each scope allows. */
export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  'users:read': 'See customers, registrations and campaigns',
  'users:write': 'Register customers, upload campaigns',
  'users:erase': 'Erase customers for good',
  'registrations:decide': 'Decide registrations whose outcome is unknown, adopt customers',
  'onboarding:read': 'See sessions, invitations, inverters and the status',
  'onboarding:write': 'Invite owners, start sessions',
  'invitations:write': 'Invite one owner, copy one link, prolong and revoke',
  'links:read': 'See links, by which anybody acts as the owner',
  'events:read': 'Follow events; without it, the console reads every 10 seconds',
  'webhooks:manage': 'See and manage webhook endpoints and deliveries',
  'remote:call': 'Call the remote service, where SCS_PASS_THROUGH allows it',
  admin: 'Everything, with keys and the audit log',
};

interface Preset {
  readonly title: string;
  readonly scopes: readonly Scope[];
}

/** The scopes that a role needs. docs/api.md has the same. */
export const PRESETS = {
  helpdesk: {
    title: 'the helpdesk',
    scopes: ['users:read', 'onboarding:read', 'invitations:write', 'events:read'],
  },
  marketing: {
    title: 'marketing',
    scopes: ['users:read', 'users:write', 'onboarding:read', 'onboarding:write', 'events:read'],
  },
  crm: {
    title: 'a CRM',
    scopes: ['users:write', 'users:read', 'onboarding:write', 'onboarding:read', 'events:read'],
  },
  duty: {
    title: 'the person on duty',
    scopes: ['users:read', 'onboarding:read', 'registrations:decide', 'webhooks:manage', 'events:read'],
  },
} satisfies Readonly<Record<string, Preset>> as Readonly<Record<string, Preset>> & {
  readonly helpdesk: Preset;
};
