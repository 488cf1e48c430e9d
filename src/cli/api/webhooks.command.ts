import { Command, InvalidArgumentError, Option } from 'commander';
import type {
  CreatedWebhookEndpointView,
  RotatedSecretView,
  WebhookEndpointView,
  WebhookTestView,
} from '../../events/webhooks/endpoints/endpoints.dto.js';
import type { RedeliveryView, WebhookDeliveryView } from '../../events/webhooks/log/deliveries.dto.js';
import { readId } from '../command-environment.js';
import { confirm, YES, type Confirmation } from '../confirm.js';
import { print, printError } from '../print.js';
import { readInput, readList, readTypes } from './input.js';
import { JSON_OPTION, listCommand } from './list-command.js';
import { age, cut, printCall, printFields, printResult, type Output } from './output.js';
import { ApiError, type FindApi, type Wire } from './service-api.js';

type Endpoint = Wire<WebhookEndpointView>;

const PATH = '/webhook-endpoints';

// Headers and secrets are read from files, because every user of the machine can read a command line.
const SECRET_FILE = [
  '--secret-file <file>',
  'your own secret instead of a random one; - reads the standard input',
] as const;

interface Settings {
  readonly url?: string;
  readonly types?: string[];
  readonly description?: string;
  readonly headersFile?: string;
}

export function webhooksCommand(findApi: FindApi): Command {
  const webhooks = new Command('webhooks').description('manage webhook endpoints and their deliveries');
  const onEndpoint = (name: string, description: string): Command =>
    webhooks.command(name).description(description).argument('<id>', 'from `webhooks list`', readId);

  webhooks.addCommand(
    listCommand<WebhookEndpointView>('list', 'list the endpoints, newest first', findApi, PATH, {
      ID: ({ id }) => id,
      STATE: stateOf,
      PENDING: ({ pending }) => pending,
      DESCRIPTION: ({ description }) => cut(description, 16),
      // The path of an address may contain a secret of the receiver.
      ORIGIN: ({ url }) => cut(new URL(url).origin, 25),
    }),
  );
  onEndpoint('show', 'show an endpoint and its recent health')
    .option(...JSON_OPTION)
    .action((id: string, output: Output) => printCall(findApi, output, 'GET', `${PATH}/${id}`));
  withSettings(
    webhooks
      .command('create')
      .description('create an endpoint and print its secret; it is never shown again')
      .argument('<url>', 'where to send events'),
  )
    .option(...SECRET_FILE)
    .option(...JSON_OPTION)
    .action(async (url: string, options: Settings & { secretFile?: string } & Output) => {
      const body = { url, ...(await settingsOf(options)), ...(await secretOf(options)) };
      const api = await findApi();
      const created = await api.call<Wire<CreatedWebhookEndpointView>>('POST', PATH, { body });
      printResult(created, options, ({ id, secret }) => printSecret(`created ${id}`, secret));
    });
  withSettings(onEndpoint('update', 'change an endpoint, or disable or enable it'))
    .option('--url <url>', 'where to send events')
    .option('--enable', 'send again, from the event at which it stopped')
    .addOption(new Option('--disable', 'send nothing; no event is lost').conflicts('enable'))
    .option('--skip-missed', 'with --enable: skip the events that it missed')
    .option(...JSON_OPTION)
    .action(async (id: string, options: Settings & Output & Switch) => {
      const { url, enable, disable, skipMissed } = options;
      const enabled = enable ? true : disable ? false : undefined;
      const body = { url, enabled, skipMissed, ...(await settingsOf(options)) };
      await printCall(findApi, options, 'PATCH', `${PATH}/${id}`, body);
    });
  onEndpoint('delete', 'delete an endpoint and the log of its deliveries')
    .option(...YES)
    .option(...JSON_OPTION)
    .action(async (id: string, options: Output & Confirmation) => {
      const api = await findApi();
      const { url, pending } = await api.call<Endpoint>('GET', `${PATH}/${id}`);
      const loss = `This deletes the endpoint ${id} (${new URL(url).origin}), its ${pending} pending deliveries and the log of all its deliveries.`;
      if (!(await confirm(loss, options))) return;
      await api.call('DELETE', `${PATH}/${id}`);
      if (!options.json) printError(`deleted ${id}`);
    });
  onEndpoint('test', 'send a test event now; fails unless the receiver responds with 2xx')
    .option(...JSON_OPTION)
    .action(async (id: string, output: Output) => {
      const api = await findApi();
      const result = await api.call<WebhookTestView>('POST', `${PATH}/${id}/test`);
      printResult(result, output, printFields);
      if (!result.delivered) process.exitCode = 1;
    });
  onEndpoint('rotate-secret', 'replace the secret and print the new one; it is never shown again')
    .option('--overlap-seconds <number>', 'how long the old secret still signs (default: a day)', readCount)
    .option(...SECRET_FILE)
    .option(...JSON_OPTION)
    .action(async (id: string, options: Output & { overlapSeconds?: number; secretFile?: string }) => {
      const body = { overlapSeconds: options.overlapSeconds, ...(await secretOf(options)) };
      const api = await findApi();
      const rotated = await api.call<Wire<RotatedSecretView>>('POST', `${PATH}/${id}/rotate-secret`, {
        body,
      });
      printResult(rotated, options, ({ secret, previousSecretUntil }) =>
        printSecret(`the old secret signs until ${previousSecretUntil ?? 'now'}`, secret),
      );
    });
  onEndpoint('redeliver', 'send events again: these deliveries, or all events after a sequence')
    .option('--delivery-ids <list>', 'from `webhooks deliveries`, separated by commas', readList)
    .option('--after <sequence>', 'every event after this one; 0 is the beginning')
    .option('--until <sequence>', 'with --after: up to and including this event')
    .option('--types <list>', 'with --after: only these types', readList)
    .option('--only-failed', 'with --after: only failed deliveries')
    .option(...JSON_OPTION)
    .action(async (id: string, { json, ...body }: Output & object) => {
      const api = await findApi();
      const result = await api.call<RedeliveryView>('POST', `${PATH}/${id}/redeliver`, { body });
      printResult(result, { json }, ({ redelivered, next }) => {
        print(`${redelivered} events are sent again`);
        if (next !== null) printError(`there are more: repeat with --after ${next}`);
      });
    });
  webhooks.addCommand(
    listCommand<WebhookDeliveryView>(
      'deliveries',
      'list deliveries, newest first',
      findApi,
      '/webhook-deliveries',
      {
        ID: ({ id }) => id,
        STATUS: ({ status }) => status,
        TRIES: ({ attempts }) => attempts,
        LAST: ({ lastStatus, lastError }) => lastStatus ?? (lastError && 'error'),
        AGE: ({ createdAt }) => age(createdAt),
        EVENT: ({ type }) => type.replace(/^pv\.|\.v1$/g, ''),
      },
    )
      .option('--endpoint-id <id>', 'only to this endpoint', readId)
      .addOption(
        new Option('--status <status>', 'only in this status').choices(['pending', 'delivered', 'failed']),
      )
      .option('--event-id <id>', 'only of this event', readId)
      .option('--subject <id>', 'only of events about this session, user or other subject')
      .option('--since <instant>', 'only created since, such as 2026-11-22T10:00:00Z'),
  );
  return webhooks;
}

interface Switch {
  readonly enable?: boolean;
  readonly disable?: boolean;
  readonly skipMissed?: boolean;
}

const stateOf = ({ enabled, disabledReason, failures }: Endpoint): string => {
  if (!enabled)
    return disabledReason === 'gone' || disabledReason === 'failing' ? disabledReason : 'disabled';
  return failures > 0 ? 'retrying' : 'enabled';
};

const withSettings = (command: Command): Command =>
  command
    .option('--types <list>', 'event types, separated by commas, or all', readTypes)
    .option('--description <text>', 'a note for people')
    .option('--headers-file <file>', 'headers to send, as a JSON object; - reads the standard input');

async function settingsOf({ types, description, headersFile }: Settings): Promise<object> {
  const headers = headersFile === undefined ? undefined : readJson(await readInput(headersFile));
  return { types, description, headers };
}

async function secretOf({ secretFile }: { secretFile?: string }): Promise<object> {
  return secretFile === undefined ? {} : { secret: (await readInput(secretFile)).trim() };
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
    throw new ApiError('invalid_file', 'The file of the headers is not JSON.');
  }
}

function readCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
