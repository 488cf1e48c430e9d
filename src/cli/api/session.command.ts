import type { Client, Schemas, Session } from '#client/client.js';
import { readId } from '../read-input.js';
import { print } from '../print.js';
import { ApiCommand, at } from './api-command.js';
import type { Operation, Resolve } from './operation.rules.js';
import { printObject } from './print-result.js';
import type { FindApi } from './service-api.js';
import { eventName, printTable, toSecond } from './table.js';

/** An event with the data that the timeline shows. */
type SessionEvent = Pick<Schemas['FeedEvent'], 'time' | 'type'> & {
  readonly data: Readonly<Partial<Record<'previousState' | 'rule' | 'inverterId', string | null>>>;
};

export const sessionCommand = (findApi: FindApi, { returns }: Operation, resolve: Resolve): ApiCommand =>
  new ApiCommand('show', findApi)
    .description('show a session and its timeline: all events about it')
    .argument('<id>', 'from `sessions list`', readId)
    .calls(
      async (client, id: string) => {
        const { data: session } = await client.GET('/api/v1/onboarding/pv/{id}', at(id));
        return { data: { session, events: await readEvents(client, id) } };
      },
      ({ session, events }: { session: Session; events: SessionEvent[] }) => {
        printObject(resolve, returns![1], session);
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
