import { Command, InvalidArgumentError, Option } from 'commander';
import type { Page } from '../../platform/http/page.js';
import { readId } from '../command-environment.js';
import { JSON_OPTION, printError, printJson } from '../print.js';
import { printFields, printTable, type Columns } from './output.js';
import type { FindApi, Query, ServiceApi, Wire } from './service-api.js';

export class ApiCommand extends Command {
  constructor(
    name: string,
    private readonly findApi: FindApi,
  ) {
    super(name);
  }

  /** Makes the commands of a group ApiCommands, too. */
  override createCommand(name: string): ApiCommand {
    return new ApiCommand(name, this.findApi);
  }

  /** Adds a command about one item of the list of this group. */
  itemCommand(name: string, description: string): ApiCommand {
    return this.command(name)
      .description(description)
      .argument('<id>', `from \`${this.name()} list\``, readId);
  }

  /** Runs `call` with the arguments and options of the command, and prints the result: with `--json` unchanged, else with `forPeople`. */
  calls<Arguments extends unknown[], Result extends object>(
    call: (api: ServiceApi, ...given: Arguments) => Promise<Result>,
    forPeople: (result: Result) => void = printFields,
  ): this {
    return this.option(...JSON_OPTION).action(async () => {
      const { json, ...options } = this.opts<{ json?: boolean }>();
      const given = [...(this.processedArgs as unknown[]), options] as Arguments;
      const result = await call(await this.findApi(), ...given);
      if (json) printJson(result);
      else forPeople(result);
    });
  }

  /** Adds a command that prints a page of a list. Each further option is the parameter of the same name. */
  listCommand<View>(
    name: string,
    description: string,
    path: string,
    columns: Columns<Wire<View>>,
  ): ApiCommand {
    return this.command(name)
      .description(description)
      .option('--limit <number>', 'the most to print, up to 200 (default: 50)')
      .option('--cursor <text>', 'the next page: `next` of the previous page')
      .calls(
        (api, { metadata, ...query }: { metadata?: Query } & Query) =>
          api.call<Page<Wire<View>>>('GET', path, { query: { ...query, ...metadata } }),
        ({ items, next }) => {
          printTable(columns, items);
          if (next !== null) printError(`there are more: add --cursor ${next}`);
        },
      );
  }
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
