import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'commander';
import type { Encoding } from '../../spreadsheet/encoding.rules.js';
import type { Client, Schemas } from '#client/client.js';
import { CommandError } from '../command-error.js';
import { confirm, YES } from '../confirm.js';
import { JSON_OPTION, print, printError, printJson } from '../print.js';
import { endedWell, printReport, rowsOf } from './campaign-report.js';
import { ImportFile } from './import-file.js';
import { optionsOf } from './operation-inputs.js';
import type { Operation } from './operation.rules.js';
import { progressLine } from './progress.rules.js';
import type { FindApi, ServiceApi } from './service-api.js';

type Campaign = Schemas['CampaignView'];

const LOOK_EVERY_MS = 1_000;
/** The longest pause between two calls of a service that does not respond. */
const LONGEST_PAUSE_MS = 30_000;
/** How often a line is printed where there is no terminal. */
const LINE_EVERY_MS = 5_000;
/** The responses after which further calls are useless. */
const FINAL: readonly string[] = ['unauthenticated', 'forbidden', 'not_found'];
const DEFAULT_COLUMNS = 80;

/** The exit code if a row has not ended well. */
const ROWS_FAILED = 3;
/** The exit code that shells report for a program that Ctrl-C has ended. */
const INTERRUPTED = 130;

type Flag = 'dryRun' | 'invite' | 'adopt' | 'referencesConfirmed' | 'yes' | 'json';
type Options = {
  readonly name?: string;
  readonly encoding?: Encoding;
  readonly columns?: string;
  readonly sheet?: string;
} & Readonly<Partial<Record<Flag, true>>>;

/** Its options are parameters of the operation that receives the file. */
export function importCommand(findApi: FindApi, { inputs }: Operation): Command {
  const command = new Command('import')
    .description(
      'check the customers of a CSV, Excel or NDJSON file, register each once, and show the progress',
    )
    .argument('<file>', 'a file whose name ends with .csv or .xlsx, or with .ndjson or .jsonl')
    .addOption(
      new Option(
        '--columns <NAME=FIELD,...>',
        'what columns with other names become, such as Klantnummer=tenantReference,EAN-code=ean; a column without a field (Straat=) is left out',
      ).argParser(readColumns),
    )
    .option('--sheet <NAME>', 'the sheet of an Excel workbook that has several')
    .option(YES[0], 'do not ask for a confirmation after the check; needed where there is no terminal')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nCtrl-C ends only the display: the service continues with the campaign.')
    .action(async (path: string, options: Options) => {
      const api = await findApi();
      const file = await ImportFile.open(path, options);
      try {
        await api.run((client) => importFile(api, client, file, options));
      } finally {
        await file.close();
      }
    });
  for (const input of inputs.filter(({ name }) => name !== 'columns'))
    for (const option of optionsOf(input)) command.addOption(option);
  return command;
}

/** Turns NAME=FIELD,… into the parameter of the API, NAME:FIELD,… */
const readColumns = (text: string): string =>
  text
    .split(',')
    .map((pair) => pair.replace(/=([^=]*)$/, ':$1'))
    .join(',');

async function importFile(
  api: ServiceApi,
  client: Client,
  file: ImportFile,
  options: Options,
): Promise<void> {
  const { dryRun = false, json = false, yes = false, adopt, invite } = options;
  if (!json) printError(`checking ${file.path}`);
  const checked = await upload(client, file, { ...options, dryRun: true });
  const { accepted, known } = checked.counts;
  // Even if no customer is new, `invite` and `adopt` may create invitations and sessions of known customers.
  const isDone = accepted === 0 && known > 0 && !invite && !adopt;
  const isRefused = !dryRun && !yes && !process.stdin.isTTY;
  if (!json) await printReport(client, checked);
  else if (dryRun || isDone || isRefused) printJson(checked);
  if (!json && isDone) print('no customer is new: nothing is to be done');
  if (dryRun || isDone) return setExitCode(checked);
  if (accepted + known === 0)
    throw new CommandError('nothing_to_import', 'No row can be imported: nothing was done.', ROWS_FAILED);
  const refusal = 'Nothing was imported: a script must confirm the import with --yes.';
  if (isRefused) throw new CommandError('not_confirmed', refusal, 2);
  const left = checked.rows - accepted - known;
  const does = adopt
    ? `adopts the customers of ${rowsOf(accepted + known)}`
    : `registers the customers of ${rowsOf(accepted)}`;
  const invites = invite ? ` and invites the owners of ${rowsOf(accepted + known)}` : '';
  const without = left > 0 ? `, without the other ${rowsOf(left)}` : '';
  await confirm(`At ${api.url}`, `this ${does}${invites}${without}.`, { yes });
  const campaign = await upload(client, file, options);
  const ended = await follow(api, client, campaign, json);
  if (json) printJson(ended);
  else {
    print('');
    await printReport(client, ended, checked.problems);
  }
  setExitCode(ended);
}

function setExitCode(campaign: Campaign): void {
  if (!endedWell(campaign)) process.exitCode = ROWS_FAILED;
}

/** Uploads the file. Reads the file during the upload. */
async function upload(client: Client, file: ImportFile, options: Partial<Options>) {
  const { name, dryRun, invite, adopt, encoding, columns, referencesConfirmed } = options;
  const isNdjson = /\.(ndjson|jsonl)$/i.test(file.path);
  const { data } = await client.POST('/api/v1/campaigns', {
    params: { query: { name, dryRun, invite, adopt, encoding, columns, referencesConfirmed } },
    headers: { 'content-type': isNdjson ? 'application/x-ndjson' : 'text/csv' },
    body: ReadableStream.from(file.read()) as unknown as string,
    bodySerializer: (stream: unknown) => stream as ReadableStream,
    // `fetch` sends a stream only with this option.
    duplex: 'half',
  });
  return data;
}

/** Shows the progress until the campaign has ended, also while the service restarts. Throws CommandError after Ctrl-C. */
async function follow(api: ServiceApi, client: Client, campaign: Campaign, isSilent: boolean) {
  const { id } = campaign;
  const display = isSilent ? SILENT : process.stderr.isTTY ? bar() : lines();
  const interruption = new AbortController();
  const { signal } = interruption;
  const interrupt = (): void => interruption.abort();
  process.once('SIGINT', interrupt);
  display.note(`the campaign is ${id}`);
  let current = campaign;
  let failures = 0;
  try {
    while (current.finishedAt === null) {
      display.show(current);
      await sleep(Math.min(LOOK_EVERY_MS * 2 ** failures, LONGEST_PAUSE_MS), undefined, { signal });
      try {
        const params = { path: { id } };
        current = (await client.GET('/api/v1/campaigns/{id}', { params, signal })).data;
        if (failures > 0) display.note('the service responds again');
        failures = 0;
      } catch (error) {
        const explained = api.explain(error);
        if (!(explained instanceof CommandError) || FINAL.includes(explained.code)) throw explained;
        if (failures++ === 0)
          display.note(`${explained.message} Trying again; the campaign is not affected.`);
      }
    }
    display.show(current);
    return current;
  } catch (error) {
    const next = `The campaign continues. See it:\n  campaigns show ${id}\nPause it:\n  campaigns pause ${id}`;
    if (signal.aborted) throw new CommandError('interrupted', next, INTERRUPTED);
    next.split('\n').forEach(display.note);
    throw error;
  } finally {
    display.end();
    process.off('SIGINT', interrupt);
  }
}

interface Display {
  readonly show: (campaign: Campaign) => void;
  /** Prints a message. The progress continues after it. */
  readonly note: (text: string) => void;
  readonly end: () => void;
}

const nothing = (): void => {};
const SILENT: Display = { show: nothing, note: nothing, end: nothing };

/** Returns a display that rewrites one line of the terminal. */
function bar(): Display {
  let shown = '';
  const end = (): void => {
    if (shown !== '') process.stderr.write('\n');
    shown = '';
  };
  return {
    show: (campaign) => {
      // A character in the last column would begin a new line.
      shown = progressLine(campaign, (process.stderr.columns || DEFAULT_COLUMNS) - 1);
      process.stderr.write(`\r${shown}\x1b[K`);
    },
    note: (text) => {
      if (shown !== '') process.stderr.write('\r\x1b[K');
      shown = '';
      printError(text);
    },
    end,
  };
}

/** Returns a display that prints a line every few seconds if it has changed, and at the end. */
function lines(): Display {
  let shown = '';
  let shownAt = -Infinity;
  return {
    show: (campaign) => {
      const line = progressLine(campaign);
      const isDue = campaign.finishedAt !== null || performance.now() - shownAt >= LINE_EVERY_MS;
      if (!isDue || line === shown) return;
      printError(line);
      shown = line;
      shownAt = performance.now();
    },
    note: printError,
    end: nothing,
  };
}
