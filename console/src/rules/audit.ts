import type { Schemas } from '#client/client.js';
import { wordsOf } from '../format/words.js';
import { texts } from '../texts.js';
import type { PageName } from './route.js';
import type { Target } from './stalled.js';

type Entry = Schemas['AuditEntryView'];

/** Returns the actor as with requests, if it has acted in the console. */
export const withoutConsole = (actor: string): string => actor.replace(/^console:/, '');

/** Returns who did something: by the name of the key, and whether it was in the console. */
export function actorWords({ actor, keyName }: Pick<Entry, 'actor' | 'keyName'>): string {
  const who = withoutConsole(actor);
  const name = keyName ?? (who === 'environment' ? texts.audit.administratorKey : who);
  return who === actor ? name : texts.audit.inConsole(name);
}

/** Returns what was done, as people read it: `api_key.created` becomes `API key created`. */
export const actionWords = (action: string): string =>
  wordsOf(action.replace('.', ' ')).replace(/^api\b/, 'API');

/** The pages about targets, by the first word of the action. That of a customer takes the id of a registration, too. */
const PAGES_OF: Readonly<Record<string, PageName>> = {
  user: 'customers',
  registration: 'customers',
  session: 'sessions',
  invitation: 'invitations',
  campaign: 'campaigns',
  webhook_endpoint: 'webhooks',
};
const ENDED = /\.(erased|deleted)$/;

/** Returns the page about what something was done to, or null if there is none, or no longer. */
export function pageOfTarget({ action, target }: Pick<Entry, 'action' | 'target'>): Target | null {
  const to = PAGES_OF[action.replace(/\..*/, '')];
  return to === undefined || target === null || ENDED.test(action) ? null : { to, id: target };
}

/** Returns the details as text. Omits what is empty. */
export const detailsOf = (details: Entry['details']): string =>
  Object.entries(details)
    .map(([name, value]) => [name, textOf(value)] as const)
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `${name}: ${text}`)
    .join('; ');

function textOf(value: unknown): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
