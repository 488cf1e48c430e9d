import type { Command } from 'commander';
import type { Client, Schemas, Session } from '#client/client.js';
import { SESSION_STATES } from '../../events/event-schemas.rules.js';
import { SESSION_CAUSES } from '../../onboarding/stalls/session.causes.rules.js';
import { START_STATUSES } from '../../onboarding/rules/start-failure.rules.js';
import { readId } from '../read-input.js';
import { print, printYaml } from '../print.js';
import { ApiCommand, at, metadataOption } from './api-command.js';
import type { FindApi } from './service-api.js';
import { age, cut, eventName, printTable, toSecond } from './table.js';

/** An event with the data that the timeline shows. */
type SessionEvent = Pick<Schemas['FeedEvent'], 'time' | 'type'> & {
  readonly data: Readonly<Partial<Record<'previousState' | 'rule' | 'inverterId', string | null>>>;
};

export function sessionsCommand(findApi: FindApi): Command {
  const sessions = new ApiCommand('sessions', findApi).description(
    'list, show and refresh onboarding sessions',
  );
  sessions
    .listCommand('list', 'list sessions, the longest unchanged first', '/api/v1/onboarding/pv', {
      ID: ({ id }) => id,
      STATE: ({ state }) => state,
      READ: ({ checkedAt }) => age(checkedAt),
      BRAND: ({ brand }) => cut(brand, 10),
      REFERENCE: ({ tenantReference }) => tenantReference,
    })
    .choice('--state <state>', 'only in this state', SESSION_STATES)
    .choice('--stalled <cause>', 'only stalled for this cause, or any', [
      ...Object.keys(SESSION_CAUSES),
      'any',
    ])
    .option('--user-id <id>', 'only of this user', readId)
    .option('--grid-location-id <id>', 'only of this grid location', readId)
    .option('--tenant-reference <text>', 'only of this reference')
    .option('--brand <name>', 'only of this brand')
    .option('--updated-since <instant>', 'only changed since, such as 2026-11-22T10:00:00Z')
    .option('--created-since <instant>', 'only started at or after')
    .option('--started-before <instant>', 'only started before')
    .option('--expires-before <instant>', 'only with an expiry before')
    .addOption(metadataOption());
  sessions
    .listCommand('starts', 'list starts, newest first, also those that failed', '/api/v1/onboarding/starts', {
      'GRID LOCATION': ({ gridLocationId }) => gridLocationId,
      AGE: ({ createdAt }) => age(createdAt),
      STATUS: ({ status }) => status,
      ERROR: ({ error }) => cut(error, 40),
    })
    .choice('--status <status>', 'only in this status', START_STATUSES)
    .option('--user-id <id>', 'only of this user', readId)
    .option('--grid-location-id <id>', 'only of this grid location', readId);
  sessions.itemCommand('show', 'show a session and its timeline: all events about it').calls(
    async (client, id: string) => {
      const { data: session } = await client.GET('/api/v1/onboarding/pv/{id}', at(id));
      return { data: { session, events: await readEvents(client, id) } };
    },
    ({ session, events }) => {
      printSession(session);
      print('');
      printTable(
        {
          TIME: ({ time }) => toSecond(time),
          EVENT: ({ type }) => eventName(type).replace(/^session\./, ''),
          DETAIL: ({ data: { inverterId, previousState, rule } }) =>
            inverterId ?? (previousState ? `was ${previousState}; ${rule}` : rule),
        },
        events,
      );
    },
  );
  sessions
    .itemCommand('refresh', 'read a session from the remote service now')
    .calls(
      (client, sessionId: string) =>
        client.POST('/api/v1/onboarding/pv/{sessionId}/refresh', { params: { path: { sessionId } } }),
      printSession,
    );
  return sessions;
}

/** Prints a session without its startUrl, because anyone who sees the startUrl may act for the owner. */
const printSession = (session: Session): void =>
  printYaml({ ...session, startUrl: session.startUrl && 'not shown here; --json has it' });

async function readEvents(client: Client, sessionId: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for (let after = '0'; ;) {
    const query = { sessionId, after, limit: 200 };
    const { data } = await client.GET('/api/v1/events', { params: { query } });
    if (data.items.length === 0) return events;
    events.push(...(data.items as SessionEvent[]));
    after = data.next;
  }
}
