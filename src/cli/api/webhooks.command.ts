import { counted } from '../../platform/counted.rules.js';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Schemas } from '#client/client.js';
import { readId } from '../read-input.js';
import { CommandError } from '../command-error.js';
import { print, printError } from '../print.js';
import { ApiCommand, at } from './api-command.js';
import { readInput } from '../read-input.js';
import type { FindApi } from './service-api.js';
import { age, cut, eventName } from './table.js';

const LIST = '/api/v1/webhook-endpoints';
const ONE = '/api/v1/webhook-endpoints/{id}';

// Headers and secrets are read from files, because every user of the machine can read a command line.
const SECRET_FILE = [
  '--secret-file <file>',
  'your own secret instead of a random one; - reads the standard input',
] as const;

interface Options extends Partial<Record<'enable' | 'disable' | 'skipMissed', true>> {
  readonly headersFile?: string;
  readonly secretFile?: string;
  readonly overlapSeconds?: number;
}

export function webhooksCommand(findApi: FindApi): Command {
  const webhooks = new ApiCommand('webhooks', findApi).description(
    'manage webhook endpoints and their deliveries',
  );
  webhooks.listCommand('list', 'list the endpoints, newest first', LIST, {
    ID: ({ id }) => id,
    STATE: stateOf,
    PENDING: ({ pending }) => pending,
    DESCRIPTION: ({ description }) => cut(description, 16),
    // The path of an address may contain a secret of the receiver.
    ORIGIN: ({ url }) => cut(new URL(url).origin, 25),
  });
  webhooks
    .itemCommand('show', 'show an endpoint and its recent health')
    .calls((client, id: string) => client.GET(ONE, at(id)));
  withSettings(
    webhooks
      .command('create')
      .description('create an endpoint and print its secret; it is never shown again')
      .argument('<url>', 'where to send events'),
  )
    .option(...SECRET_FILE)
    .calls(
      async (client, url: string, { secretFile, ...settings }: Options) => {
        const body = { url, ...(await settingsOf(settings)), secret: await readSecret(secretFile) };
        return client.POST(LIST, { body });
      },
      ({ id, secret }) => printSecret(`created ${id}`, secret),
    );
  withSettings(webhooks.itemCommand('update', 'change an endpoint, or disable or enable it'))
    .option('--url <url>', 'where to send events; another origin needs --headers-file and --secret-file')
    .option('--secret-file <file>', 'with --url: the new secret; - reads the standard input')
    .option('--enable', 'send again, from the event at which it stopped')
    .addOption(new Option('--disable', 'send nothing; no event is lost').conflicts('enable'))
    .option('--skip-missed', 'with --enable: skip the events that it missed')
    .confirms((_client, id: string, { skipMissed }: Options) =>
      skipMissed ? `this skips all events that the endpoint ${id} missed. This cannot be undone.` : undefined,
    )
    .calls(async (client, id: string, { enable, disable, secretFile, ...settings }: Options) => {
      const enabled = enable ? true : disable ? false : undefined;
      const body = { enabled, ...(await settingsOf(settings)), secret: await readSecret(secretFile) };
      return client.PATCH(ONE, { ...at(id), body });
    });
  webhooks
    .itemCommand('delete', 'delete an endpoint and the log of its deliveries')
    .confirms(async (client, id: string) => {
      const { url, pending } = (await client.GET(ONE, at(id))).data;
      return `this deletes the endpoint ${id} (${new URL(url).origin}), its ${pending} pending deliveries and the log of all its deliveries. This cannot be undone.`;
    })
    .deletes((client, id) => client.DELETE(ONE, at(id)));
  webhooks
    .itemCommand('test', 'send a test event now; fails unless the receiver responds with 2xx')
    .calls(async (client, id: string) => {
      const result = await client.POST(`${ONE}/test`, at(id));
      if (!result.data.delivered) process.exitCode = 1;
      return result;
    });
  webhooks
    .itemCommand('rotate-secret', 'replace the secret and print the new one; it is never shown again')
    .option('--overlap-seconds <number>', 'how long the old secret still signs (default: a day)', readCount)
    .option(...SECRET_FILE)
    .confirms((_client, id: string, { overlapSeconds }: Options) =>
      overlapSeconds === 0
        ? `this ends all earlier secrets of the endpoint ${id} now. This cannot be undone.`
        : undefined,
    )
    .calls(
      async (client, id: string, { secretFile, overlapSeconds }: Options) => {
        const body = { overlapSeconds, secret: await readSecret(secretFile) };
        return client.POST(`${ONE}/rotate-secret`, { ...at(id), body });
      },
      ({ secret, previousSecretUntil }) =>
        printSecret(`the old secret signs until ${previousSecretUntil ?? 'now'}`, secret),
    );
  webhooks
    .itemCommand('redeliver', 'send events again: these deliveries, or all events after a sequence')
    .option('--delivery-ids <list>', 'from `webhooks deliveries`, separated by commas', readList)
    .option('--after <sequence>', 'every event after this one; 0 is the beginning')
    .option('--until <sequence>', 'with --after: up to and including this event')
    .option('--types <list>', 'with --after: only these types', readList)
    .option('--only-failed', 'with --after: only failed deliveries')
    .calls(
      (client, id: string, body: object) => client.POST(`${ONE}/redeliver`, { ...at(id), body }),
      ({ redelivered, next }) => {
        print(`${counted(redelivered, 'event is', 'events are')} sent again`);
        if (next !== null) printError(`there are more: repeat with --after ${next}`);
      },
    );
  webhooks
    .listCommand('deliveries', 'list deliveries, newest first', '/api/v1/webhook-deliveries', {
      ID: ({ id }) => id,
      STATUS: ({ status }) => status,
      TRIES: ({ attempts }) => attempts,
      LAST: ({ lastStatus, lastError }) => lastStatus ?? (lastError && 'error'),
      AGE: ({ createdAt }) => age(createdAt),
      EVENT: ({ type }) => eventName(type),
    })
    .option('--endpoint-id <id>', 'only to this endpoint', readId)
    .choice('--status <status>', 'only in this status', ['pending', 'delivered', 'failed'])
    .option('--event-id <id>', 'only of this event', readId)
    .option('--subject <id>', 'only of events about this session, user or other subject')
    .option('--since <instant>', 'only created since, such as 2026-11-22T10:00:00Z');
  webhooks
    .command('delivery')
    .description('show a delivery, with its last attempt and when the next one is due')
    .argument('<id>', 'from `webhooks deliveries`', readId)
    .calls((client, id: string) => client.GET('/api/v1/webhook-deliveries/{id}', at(id)));
  return webhooks;
}

const stateOf = ({ enabled, disabledReason, failures }: Schemas['WebhookEndpointView']): string => {
  if (enabled) return failures > 0 ? 'retrying' : 'enabled';
  return disabledReason === 'gone' || disabledReason === 'failing' ? disabledReason : 'disabled';
};

const withSettings = (command: ApiCommand): ApiCommand =>
  command
    .option('--types <list>', 'event types, separated by commas, or all', readTypes)
    .option('--description <text>', 'a note for people')
    .option('--headers-file <file>', 'headers to send, as a JSON object; - reads the standard input');

async function settingsOf({ headersFile, ...settings }: Options): Promise<object> {
  return { ...settings, headers: headersFile && readJson(await readInput(headersFile)) };
}

async function readSecret(file: string | undefined): Promise<string | undefined> {
  return file && (await readInput(file)).trim();
}

/** Prints the secret alone to the standard output, so that it can be piped. */
function printSecret(done: string, secret: string): void {
  printError(`${done}; the secret is shown only once:`);
  print(secret);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The error of JSON.parse would repeat the text.
    throw new CommandError('invalid_file', 'The file of the headers is not JSON.');
  }
}

function readCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** Returns the parts of a list such as `session.online,inverter.online`. */
const readList = (text: string): string[] => text.split(',').map((part) => part.trim());

/** Like readList, but `all` is the empty list, which means all types to the API. */
const readTypes = (text: string): string[] => (text === 'all' ? [] : readList(text));
