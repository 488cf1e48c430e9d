import { createWriteStream, openAsBlob } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Option, type Command } from 'commander';
import type { Client, Schemas } from '#client/client.js';
import { CAMPAIGN_STATUSES } from '../../campaigns/campaign.rules.js';
import { CommandError } from '../command-error.js';
import { confirm, YES } from '../confirm.js';
import { JSON_OPTION, print, printError, printJson, printYaml } from '../print.js';
import { ApiCommand, at } from './api-command.js';
import { count, progressLine } from './progress.rules.js';
import type { FindApi, ServiceApi } from './service-api.js';
import { age, cut, printTable } from './table.js';

type Campaign = Schemas['CampaignView'];

const LIST = '/api/v1/campaigns';
const ONE = '/api/v1/campaigns/{id}';
const LOOK_EVERY_MS = 1_000;
/** How often a line is printed where there is no terminal. */
const LINE_EVERY_MS = 5_000;
/** The exit code that shells report for a program that Ctrl-C has ended. */
const INTERRUPTED = 130;

interface Options {
  readonly name?: string;
  readonly dryRun?: true;
  readonly invite?: true;
  readonly adopt?: true;
  readonly yes?: true;
  readonly json?: true;
}

export function importCommand(findApi: FindApi): Command {
  return new ApiCommand('import', findApi)
    .description('register the customers of a CSV or NDJSON file, each once, and show the progress')
    .argument('<file>', 'a file whose name ends with .csv, or with .ndjson or .jsonl')
    .option('--name <text>', 'your name for the campaign')
    .option('--dry-run', 'check the file, print what would happen, and register nobody')
    .option('--invite', 'invite the owners of the registered grid locations')
    .option(
      '--adopt',
      'the file (NDJSON) has users and sessions that exist at the remote service: register nobody',
    )
    .option(YES[0], 'do not check the file first and ask for a confirmation')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nCtrl-C ends only the display: the service continues with the campaign.')
    .action(async (file: string, options: Options) => {
      const api = await findApi();
      await api.run((client) => importFile(api, client, file, options));
    });
}

export function campaignsCommand(findApi: FindApi): Command {
  const campaigns = new ApiCommand('campaigns', findApi).description(
    'list, show, pause, resume and cancel campaigns, and download their results',
  );
  campaigns
    .listCommand('list', 'list campaigns and dry runs, newest first', LIST, {
      ID: ({ id }) => id,
      STATUS: ({ status }) => status,
      AGE: ({ createdAt }) => age(createdAt),
      ROWS: ({ rows }) => rows,
      NAME: ({ name }) => cut(name, 30),
    })
    .addOption(new Option('--status <status>', 'only in this status').choices([...CAMPAIGN_STATUSES]));
  campaigns
    .itemCommand('show', 'show a campaign and its progress')
    .calls((client, id: string) => client.GET(ONE, at(id)));
  campaigns
    .itemCommand('pause', 'send no further row; what has been sent still gets its result')
    .calls((client, id: string) => client.POST(`${ONE}/pause`, at(id)));
  campaigns
    .itemCommand('resume', 'continue a paused campaign')
    .calls((client, id: string) => client.POST(`${ONE}/resume`, at(id)));
  campaigns
    .itemCommand('cancel', 'end a campaign: rows that have not been sent are never sent')
    .confirms((_client, id: string) => `this cancels the campaign ${id}. This cannot be undone.`)
    .calls((client, id: string) => client.POST(`${ONE}/cancel`, at(id)));
  campaigns
    .itemCommand('result', 'download the file with the result of each row, as CSV')
    .option('--output <file>', 'where to write it; default: the standard output')
    .action(async (id: string, { output }: { output?: string }) => {
      const api = await findApi();
      await api.run(async (client) => {
        const { data } = await client.GET(`${ONE}/result.csv`, { ...at(id), parseAs: 'stream' });
        const target = output === undefined ? process.stdout : createWriteStream(output);
        await pipeline(Readable.fromWeb(data as never), target, { end: output !== undefined });
      });
    });
  return campaigns;
}

async function importFile(api: ServiceApi, client: Client, file: string, options: Options): Promise<void> {
  const { dryRun = false, json = false, yes } = options;
  const isAsked = !dryRun && !yes && process.stdin.isTTY;
  if (isAsked) {
    const checked = await upload(client, file, { ...options, dryRun: true });
    printSummary(checked);
    const effect = `this ${options.adopt ? 'adopts' : 'registers'} the customers of ${count(checked.counts.accepted)} rows${options.invite ? ' and invites their owners' : ''}.`;
    await confirm(`At ${api.url}`, effect, {});
  }
  const campaign = await upload(client, file, options);
  const ended = dryRun ? campaign : await follow(client, campaign, json);
  if (json) printJson(ended);
  else {
    printSummary(ended);
    print(`the result of each row: campaigns result ${ended.id}`);
  }
  if (dryRun && ended.counts.invalid > 0) process.exitCode = 1;
}

/** Uploads the file, which is read as it is sent. */
async function upload(
  client: Client,
  file: string,
  { name, dryRun, invite, adopt }: Partial<Options>,
): Promise<Campaign> {
  const isNdjson = /\.(ndjson|jsonl)$/i.test(file);
  const body = await openFile(file);
  const { data } = await client.POST(LIST, {
    params: { query: { name, dryRun: dryRun ?? false, invite: invite ?? false, adopt: adopt ?? false } },
    headers: { 'content-type': isNdjson ? 'application/x-ndjson' : 'text/csv' },
    body: body as unknown as string,
    bodySerializer: (blob: unknown) => blob as Blob,
  });
  return data;
}

async function openFile(file: string): Promise<Blob> {
  try {
    return await openAsBlob(file);
  } catch {
    throw new CommandError('file', `${file} cannot be read.`);
  }
}

/** Shows the progress until the campaign has ended. */
async function follow(client: Client, campaign: Campaign, isSilent: boolean): Promise<Campaign> {
  const isTerminal = process.stderr.isTTY;
  const interrupt = (): void => {
    if (isTerminal) process.stderr.write('\n');
    printError(
      `the campaign ${campaign.id} continues in the service: \`campaigns show\`, \`pause\` or \`cancel\``,
    );
    process.exit(INTERRUPTED);
  };
  process.once('SIGINT', interrupt);
  if (!isSilent) printError(`the campaign is ${campaign.id}`);
  let shownAt = -Infinity;
  for (let current = campaign; ;) {
    const isOver = current.finishedAt !== null;
    const now = performance.now();
    if (!isSilent && isTerminal)
      process.stderr.write(`\r${progressLine(current)}\x1b[K${isOver ? '\n' : ''}`);
    else if (!isSilent && (isOver || now - shownAt >= LINE_EVERY_MS)) {
      printError(progressLine(current));
      shownAt = now;
    }
    if (isOver) {
      process.off('SIGINT', interrupt);
      return current;
    }
    await sleep(LOOK_EVERY_MS);
    current = (await client.GET(ONE, at(campaign.id))).data;
  }
}

function printSummary({ id, name, status, format, rows, counts, problems }: Campaign): void {
  const { type, encoding, delimiter } = format;
  printYaml({ id, name, status, format: { type, encoding, delimiter }, rows });
  const results = Object.entries(counts).filter(([, number]) => number > 0);
  printTable({ RESULT: ([result]) => result, ROWS: ([, number]) => count(number) }, results);
  const found = Object.entries(problems);
  if (found.length > 0) printTable({ PROBLEM: ([code]) => code, ROWS: ([, number]) => number }, found);
}
