import { Command, InvalidArgumentError, Option } from 'commander';
import type { Client } from '#client/client.js';
import { readPage, type ItemOf, type ListPath } from '#client/pages.js';
import { readId } from '../read-input.js';
import { confirm, YES, type Confirmation } from '../confirm.js';
import { JSON_OPTION, printError, printJson, printYaml } from '../print.js';
import type { FindApi } from './service-api.js';
import { printTable, type Columns } from './table.js';

type Query = Readonly<Record<string, string | undefined>>;

/** Returns the parameters of a call about one item. */
export const at = (id: string) => ({ params: { path: { id } } });

export class ApiCommand extends Command {
  private effectOf?: (client: Client, ...given: never[]) => string | undefined | Promise<string | undefined>;

  constructor(
    name: string,
    private readonly findApi: FindApi,
  ) {
    super(name);
  }

  /** Returns an ApiCommand, so that the subcommands are ApiCommands too. */
  override createCommand(name: string): ApiCommand {
    return new ApiCommand(name, this.findApi);
  }

  /** Adds an option that has one of these values. */
  choice(flags: string, description: string, values: readonly string[]): this {
    return this.addOption(new Option(flags, description).choices([...values]));
  }

  /** Adds a command about one item of the list of this group. */
  itemCommand(name: string, description: string): ApiCommand {
    return this.command(name)
      .description(description)
      .argument('<id>', `from \`${this.name()} list\``, readId);
  }

  /** Asks for a confirmation before the call. `effectOf` returns the effect of the call, or undefined if it needs no confirmation. */
  confirms(effectOf: NonNullable<ApiCommand['effectOf']>): this {
    this.effectOf = effectOf;
    return this.option(...YES);
  }

  /** Runs `call` with the arguments and options of the command. Prints the result as JSON with `--json`, else with `forPeople`. */
  calls<Arguments extends unknown[], Result extends object>(
    call: (client: Client, ...given: Arguments) => Promise<{ readonly data: Result }>,
    forPeople: (result: Result) => void = printYaml,
  ): this {
    return this.option(...JSON_OPTION).action(async () => {
      const { json, yes, ...options } = this.opts<Confirmation & { json?: boolean }>();
      const given = [...(this.processedArgs as unknown[]), options] as Arguments;
      const api = await this.findApi();
      const { data } = await api.run(async (client) => {
        const effect = await this.effectOf?.(client, ...(given as unknown[] as never[]));
        if (effect !== undefined) await confirm(`At ${api.url}`, effect, { yes });
        return call(client, ...given);
      });
      if (json) printJson(data);
      else forPeople(data);
    });
  }

  /** Runs a call that deletes the item of the command. */
  deletes(call: (client: Client, id: string) => Promise<unknown>): this {
    return this.calls(
      async (client, id: string) => {
        await call(client, id);
        return { data: { id, deleted: true } };
      },
      ({ id }) => printError(`deleted ${id}`),
    );
  }

  /** Adds a command that prints a page of a list. The options of the command are parameters of the API with the same names. */
  listCommand<P extends ListPath>(name: string, description: string, path: P, columns: Columns<ItemOf<P>>) {
    return this.command(name)
      .description(description)
      .callsPage(
        async (client, { metadata, ...query }: { metadata?: Query } & Query) => ({
          data: await readPage(client, path, { ...query, ...metadata }),
        }),
        columns,
      );
  }

  /** Like `calls`, for a call that returns a page of a list. Adds the options for paging. */
  callsPage<Arguments extends unknown[], Item>(
    call: (
      client: Client,
      ...given: Arguments
    ) => Promise<{ readonly data: { readonly items: readonly Item[]; readonly next: string | null } }>,
    columns: Columns<Item>,
  ): this {
    return this.option('--limit <number>', 'the most to print, up to 200 (default: 50)')
      .option('--cursor <text>', 'the next page: `next` of the previous page')
      .calls(call, ({ items, next }) => {
        printTable(columns, items);
        if (next !== null) printError(`there are more: add --cursor ${next}`);
      });
  }
}

/** Returns the option `--metadata`, which may be repeated. */
export const metadataOption = (): Option =>
  new Option('--metadata <key=value>', 'only with this metadata; may be repeated').argParser(
    (text: string, others: Query | undefined): Query => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (key === undefined) throw new InvalidArgumentError('It must be a key, = and a value.');
      return { ...others, [`metadata.${key}`]: value };
    },
  );
