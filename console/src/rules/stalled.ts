import type { Remedy, Stalled, StalledItem } from '../api/client.js';
import { texts } from '../texts.js';
import { type Filters, type PageName } from './route.js';
import type { May, Scope } from './scopes.js';

const DAY_MS = 86_400_000;

/** Returns whether the trouble began within the last 24 hours. */
export const isNew = ({ since }: Pick<Stalled, 'since'>, now: Date): boolean =>
  now.getTime() - Date.parse(since) < DAY_MS;

/** What can be stalled. */
export const KINDS: readonly StalledItem['kind'][] = [
  'registration',
  'start',
  'session',
  'invitation',
  'inverter',
  'endpoint',
];

/** The scopes of a person who may work on what is stalled, by its kind: one of them is enough. */
export const WORK_SCOPES: Readonly<Record<StalledItem['kind'], readonly Scope[]>> = {
  registration: ['users:write', 'registrations:decide'],
  start: ['onboarding:write'],
  session: ['onboarding:write'],
  invitation: ['onboarding:write', 'invitations:write'],
  inverter: ['onboarding:write'],
  endpoint: ['webhooks:manage'],
};

/** Returns the next step of a person: what comes before the remedies, or the first of them. */
export const nextOf = ({ before, remedies }: Pick<Stalled, 'before' | 'remedies'>): string =>
  before ?? (remedies[0] === undefined ? texts.stall.nothingToDo : `${remedies[0].label}.`);

/** A page of the console. */
export interface Target {
  readonly to: PageName;
  readonly id?: string;
  readonly filters?: Filters;
}

const SUBJECT_LINKS: Readonly<Partial<Record<PageName, string>>> = texts.links.toSubject;

/** Returns the words of a link to a page. */
export const pageWords = ({ to, id }: Target): string =>
  id === undefined ? texts.links.toPage(to) : (SUBJECT_LINKS[to] ?? texts.links.toIt);

const STATUS_OF: Readonly<Record<string, string>> = {
  uncertain: 'uncertain',
  rejected: 'rejected',
  pending_too_long: 'pending',
};

/** Returns the page about something that is stalled, or null if there is none. The list of registrations is filtered by status. */
export function pageAbout({
  kind,
  id,
  cause,
  gridLocationId,
}: Pick<StalledItem, 'kind' | 'id' | 'cause' | 'gridLocationId'>): Target | null {
  switch (kind) {
    case 'session':
      return { to: 'sessions', id };
    case 'registration':
      return { to: 'registrations', filters: { status: STATUS_OF[cause] ?? 'uncertain' } };
    case 'endpoint':
      return { to: 'webhooks', id };
    case 'invitation':
      return { to: 'invitations', id };
    case 'start':
      return gridLocationId === null ? null : { to: 'customers', id: gridLocationId };
    case 'inverter':
      return { to: 'customers', id };
  }
}

interface RemedyOperation {
  readonly scopes: readonly Scope[];
  readonly needsBody: boolean;
  /** The page about what its path or its body names. Default: none. */
  readonly page?: PageName;
}

/** The operations that remedies name, with the scopes of which one is enough, as openapi.json describes them. */
export const REMEDY_OPERATIONS: Readonly<Record<string, RemedyOperation>> = {
  refreshSession: { scopes: ['onboarding:read'], needsBody: false, page: 'sessions' },
  startSession: { scopes: ['onboarding:write'], needsBody: false, page: 'customers' },
  createInvitation: { scopes: ['onboarding:write', 'invitations:write'], needsBody: true, page: 'customers' },
  changeInvitation: {
    scopes: ['onboarding:write', 'invitations:write'],
    needsBody: true,
    page: 'invitations',
  },
  remindOwner: { scopes: ['onboarding:write', 'invitations:write'], needsBody: false, page: 'invitations' },
  recordInvitationMessage: {
    scopes: ['onboarding:write', 'invitations:write'],
    needsBody: true,
    page: 'invitations',
  },
  revokeInvitation: {
    scopes: ['onboarding:write', 'invitations:write'],
    needsBody: false,
    page: 'invitations',
  },
  readInvitationLink: { scopes: ['invitations:write', 'links:read'], needsBody: false, page: 'invitations' },
  registerUser: { scopes: ['users:write'], needsBody: true, page: 'customers' },
  resolveRegistration: { scopes: ['registrations:decide'], needsBody: true, page: 'customers' },
  retryRegistration: { scopes: ['registrations:decide'], needsBody: false, page: 'customers' },
  discardRegistration: { scopes: ['registrations:decide'], needsBody: false, page: 'customers' },
  testWebhookEndpoint: { scopes: ['webhooks:manage'], needsBody: false, page: 'webhooks' },
  changeWebhookEndpoint: { scopes: ['webhooks:manage'], needsBody: true, page: 'webhooks' },
  probeCredentials: { scopes: ['admin'], needsBody: false },
};

/**
 * Returns how a person can apply a remedy: with a call; with one whose response is copied; with the form of an invitation; on the page about
 * what is stalled, since a person has to write the body; or not at all.
 */
export function wayOf(
  { operationId, body }: Pick<Remedy, 'operationId' | 'body'>,
  may: May,
): 'call' | 'copy' | 'invite' | 'page' | null {
  const operation = REMEDY_OPERATIONS[operationId];
  if (operation === undefined || !operation.scopes.some(may)) return null;
  if (operationId === 'readInvitationLink') return 'copy';
  if (operation.needsBody && body === null) return 'page';
  return operationId === 'createInvitation' ? 'invite' : 'call';
}

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;

/** Returns the id in the path of a remedy. */
export const idIn = ({ path }: Pick<Remedy, 'path'>): string => UUID.exec(path)?.[0] ?? '';

/** Returns the page about what a remedy changes, or null if there is none. */
export function pageOfRemedy(remedy: Pick<Remedy, 'operationId' | 'path' | 'body'>): Target | null {
  const to = REMEDY_OPERATIONS[remedy.operationId]?.page;
  const location = remedy.body?.gridLocationId;
  const id = idIn(remedy) || (typeof location === 'string' ? location : '');
  return to === undefined || id === '' ? null : { to, id };
}

interface Outcome {
  readonly isDone: boolean;
  readonly sentence: string;
}

/** Returns what the response of a remedy says. A test of an endpoint or of the credentials succeeds even if its result is bad. */
export function outcomeOf(response: unknown): Outcome {
  const { delivered, error, status, outcome, lastError } = (response ?? {}) as Readonly<
    Record<string, unknown>
  >;
  if (outcome === 'refused' || outcome === 'no_token')
    return { isDone: false, sentence: texts.stall.failed(String(lastError)) };
  if (outcome === 'too_soon') return { isDone: false, sentence: texts.stall.tooSoon };
  if (delivered === false) {
    const why = typeof error === 'string' ? error : `HTTP ${String(status)}`;
    return { isDone: false, sentence: texts.stall.notDelivered(why) };
  }
  return { isDone: true, sentence: texts.stall.done(typeof status === 'string' ? status : null) };
}
