import { Command } from 'commander';
import type { Schemas } from '#client/client.js';
import { followEvents } from '#client/events.js';
import { readId } from '../read-input.js';
import { print, printError } from '../print.js';
import { eventName, toSecond } from './table.js';
import type { FindApi } from './service-api.js';

type FeedEvent = Schemas['FeedEvent'];

type Filter = Partial<Record<'after' | 'types' | 'sessionId', string>>;

export const tailCommand = (findApi: FindApi): Command =>
  new Command('tail')
    .description('print events as they happen, until Ctrl-C; reconnects and misses none')
    .option('--after <sequence>', 'start after this event; 0 is the beginning (default: the newest event)')
    .option('--types <list>', 'only these types, separated by commas, such as session.online')
    .option('--session-id <id>', 'only events about this session', readId)
    .option('--json', 'print each event as one line of JSON')
    .action(async ({ json, types, ...filter }: Filter & { json?: true }) => {
      const api = await findApi();
      await api.run(async (client) => {
        // The first connection must succeed. Only later connections are retried.
        const onRetry = (error: unknown) => {
          if (!api.hasResponded) throw error;
          printError(`lost the stream (${(error as Error).message}); reconnecting`);
        };
        const list = types?.split(',') as FeedEvent['type'][] | undefined;
        for await (const event of followEvents(client, { ...filter, types: list, onRetry }))
          if (json) print(JSON.stringify(event));
          else printEvent(event);
      });
    });

function printEvent({ sequence, time, type, subject }: FeedEvent): void {
  const number = sequence.replace(/^0+/, '').padStart(7);
  print(`${number}  ${toSecond(time)}  ${eventName(type).padEnd(29)}  ${subject}`);
}
