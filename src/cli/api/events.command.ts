import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import type { CloudEvent } from '../../events/cloud-event.js';
import { readId } from '../command-environment.js';
import { print, printError } from '../print.js';
import { eventName, toSecond } from './output.js';
import { ApiError, type FindApi, type Query, type ServiceApi } from './service-api.js';

/** The service sends something every 15 seconds, so a connection that is silent for this long is dead. */
const SILENCE_MS = 45_000;

/** Used until the service says how long to wait. */
const RETRY_MS = 2_000;

/** A block of the stream; see docs/stream.md. */
type Block = Readonly<Partial<Record<'id' | 'retry' | 'data', string>>>;

export function eventsCommand(findApi: FindApi): Command {
  const events = new Command('events').description('follow the events');
  events
    .command('tail')
    .description('print events as they happen, until Ctrl-C; reconnects and misses none')
    .option('--after <sequence>', 'start after this event; 0 is the beginning (default: the newest event)')
    .option('--types <list>', 'only these types, separated by commas, such as session.online')
    .option('--session-id <id>', 'only events about this session', readId)
    .option('--json', 'print each event as one line of JSON')
    .action(async ({ json, after, ...filter }: Query & { json?: true; after?: string }) =>
      follow(await findApi(), filter, after, json ? print : printEvent),
    );
  return events;
}

/** Throws if the first connection fails or the service refuses a later one. Otherwise reconnects after the last event. */
async function follow(
  api: ServiceApi,
  filter: Query,
  after: string | undefined,
  onEvent: (data: string) => void,
): Promise<never> {
  let position = after;
  let retryMs: number | undefined;
  for (;;) {
    try {
      for await (const { id, retry, data } of readStream(api, { ...filter, after: position })) {
        if (data !== undefined) onEvent(data);
        if (id !== undefined) position = id;
        retryMs = Number(retry ?? retryMs ?? RETRY_MS);
      }
      printError('the service ended the stream; reconnecting');
    } catch (error) {
      const mayPass = !(error instanceof ApiError) || error.mayPass;
      if (retryMs === undefined || !mayPass) throw error;
      printError(`lost the stream (${(error as Error).message}); reconnecting`);
    }
    await sleep(retryMs ?? RETRY_MS);
  }
}

async function* readStream(api: ServiceApi, query: Query): AsyncGenerator<Block> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error('silent for 45 seconds')), SILENCE_MS);
  try {
    const { body } = await api.send('GET', '/events/stream', { query, signal: silence.signal });
    let text = '';
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      timer.refresh();
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks)
        yield Object.fromEntries(
          [...block.matchAll(/^(\w+): (.*)$/gm)].map(([, name, value]) => [name, value]),
        );
    }
  } finally {
    clearTimeout(timer);
  }
}

function printEvent(data: string): void {
  const { sequence, time, type, subject } = JSON.parse(data) as CloudEvent;
  print(
    `${sequence.replace(/^0+/, '').padStart(7)}  ${toSecond(time)}  ${eventName(type).padEnd(29)}  ${subject}`,
  );
}
