import { texts } from '../texts.js';
import type { Scope } from './scopes.js';

/** What each scope allows. */
export const SCOPE_WORDS: Readonly<Record<Scope, string>> = texts.keys.scopes;

interface Preset {
  readonly title: string;
  readonly scopes: readonly Scope[];
}

/** The scopes that a role needs. docs/api.md has the same. */
export const PRESETS = {
  helpdesk: {
    title: texts.keys.presets.helpdesk,
    scopes: ['users:read', 'onboarding:read', 'invitations:write', 'events:read'],
  },
  marketing: {
    title: texts.keys.presets.marketing,
    scopes: ['users:read', 'users:write', 'onboarding:read', 'onboarding:write', 'events:read'],
  },
  crm: {
    title: texts.keys.presets.crm,
    scopes: ['users:write', 'users:read', 'onboarding:write', 'onboarding:read', 'events:read'],
  },
  duty: {
    title: texts.keys.presets.duty,
    scopes: ['users:read', 'onboarding:read', 'registrations:decide', 'webhooks:manage', 'events:read'],
  },
} satisfies Readonly<Record<string, Preset>> as Readonly<Record<string, Preset>> & {
  readonly helpdesk: Preset;
};
