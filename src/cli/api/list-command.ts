import { Command, InvalidArgumentError, Option } from 'commander';
import type { Page } from '../../platform/http/page.js';
import { printError } from '../print.js';
import { printResult, printTable, type Columns, type Output } from './output.js';
import type { FindApi, Query, Wire } from './service-api.js';

export const JSON_OPTION = ['--json', 'print the JSON of the API'] as const;

/** Returns the command that prints a page of a list of the API. Each of its options but `--json` is the parameter of the same name. */
export function listCommand<View>(
  name: string,
  description: string,
  findApi: FindApi,
  path: string,
  columns: Columns<Wire<View>>,
): Command {
  return new Command(name)
    .description(description)
    .option('--limit <number>', 'at most so many, up to 200 (default: 50)')
    .option('--cursor <text>', 'the next page: `next` of the page before')
    .option(...JSON_OPTION)
    .action(async ({ json, metadata, ...query }: Output & { metadata?: Query } & Query) => {
      const api = await findApi();
      const page = await api.call<Page<Wire<View>>>('GET', path, { query: { ...query, ...metadata } });
      printResult(page, { json }, ({ items, next }) => {
        printTable(columns, items);
        if (next !== null) printError(`there are more: add --cursor ${next}`);
      });
    });
}

/** `--metadata`, which may be given several times. */
export const metadataOption = (): Option =>
  new Option('--metadata <key=value>', 'only with this metadata; may be repeated').argParser(
    (text: string, others: Query | undefined): Query => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (key === undefined) throw new InvalidArgumentError('It must be a key, = and a value.');
      return { ...others, [`metadata.${key}`]: value };
    },
  );
