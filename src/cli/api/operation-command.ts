import { Argument } from 'commander';
import type { Client } from '#client/client.js';
import { visibleText } from '../../platform/redaction/visible-text.js';
import { readInput } from '../read-input.js';
import { ApiCommand } from './api-command.js';
import {
  choicesOf,
  isArgument,
  optionsOf,
  readerOf,
  readSecret,
  textOf,
  type OptionName,
} from './operation-inputs.js';
import { JSON_TYPE, kebab, type Operation, type Resolve } from './operation.rules.js';
import { printResult } from './print-result.js';
import type { FindApi } from './service-api.js';
import type { Columns } from './table.js';

type Values = Readonly<Record<string, unknown>>;

/** What a command does beyond its call. */
export interface Beyond {
  /** The names of options that differ from those of their inputs. */
  readonly names?: Readonly<Record<string, OptionName>>;
  /** Returns the values to send in the place of these. */
  readonly values?: (values: Values) => Values;
  /** Returns what these values do that a person should confirm. */
  readonly confirm?: (values: Values) => string | undefined;
  /** Columns that need more than one field. */
  readonly columns?: Columns<never>;
  /** Returns what people see of the result. */
  readonly shows?: (result: never) => object;
  readonly print?: (result: never) => void;
  /** Returns whether the command has failed although the call has not. */
  readonly fails?: (result: never) => boolean;
}

type Call = (path: string, request: object) => Promise<{ readonly data?: unknown }>;

/** Calls a path that the compiler does not know. */
const call = (client: Client, method: string, ...request: Parameters<Call>) =>
  (client as unknown as Readonly<Record<string, Call>>)[method.toUpperCase()]!(...request);

/** Returns the command of an operation. `list` is the command that lists the ids of its group. */
export function operationCommand(
  findApi: FindApi,
  resolve: Resolve,
  operation: Operation,
  beyond: Beyond = {},
  list?: string,
): ApiCommand {
  const { summary = '', description = '', 'x-confirm': confirm } = operation;
  const command = new ApiCommand(operation.command.split(' ').at(-1)!, findApi)
    .description(summary.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase()))
    .addHelpText('after', `\n${description}`);
  const valuesOf = addInputs(command, operation, beyond, list);
  if (confirm !== undefined || beyond.confirm !== undefined)
    command.confirms((client, ...given) => {
      const values = valuesOf(given);
      return confirm === undefined ? beyond.confirm!(values) : effectOf(client, operation, confirm, values);
    });
  return command.calls(
    async (client, ...given) => {
      const values = valuesOf(given);
      const { data = doneTo(operation, values) } = await send(client, operation, values);
      if (beyond.fails?.(data as never)) process.exitCode = 1;
      return { data };
    },
    (data) => {
      if (beyond.print) beyond.print(data as never);
      else printResult(resolve, operation, beyond.shows?.(data as never) ?? data, beyond.columns);
    },
  );
}

/** The name of the argument for the whole body of a request. No input has it. */
const FILE = '<file>';

/** Adds the arguments and options of an operation. Returns the function that reads the values of the inputs by their names. */
function addInputs(
  command: ApiCommand,
  { inputs, sendsFile }: Operation,
  { names = {}, values: changed = (values) => values }: Beyond,
  list?: string,
): (given: readonly unknown[]) => Values {
  const required = inputs.filter(isArgument);
  const ids = required.filter(({ in: place, format }) => place === 'path' && format === 'uuid');
  for (const input of required) {
    const name = ids.length === 1 && input === ids[0] ? 'id' : kebab(input.name);
    const isListed = input.in === 'path' && input.description === undefined && list;
    const argument = new Argument(`<${name}>`, isListed ? `from \`${list}\`` : textOf(input));
    const [, parse] = readerOf(input);
    if (input.enum !== undefined) argument.choices(choicesOf(input.enum));
    else if (parse !== undefined) argument.argParser(parse);
    command.addArgument(argument);
  }
  if (sendsFile) command.argument(FILE, 'the body of the request; - reads the standard input');
  const optional = inputs
    .filter((input) => !isArgument(input))
    .map((input) => [input.name, optionsOf(input, names[input.name])] as const);
  for (const option of optional.flatMap(([, each]) => each)) command.addOption(option);
  return (given) => {
    const chosen = given.at(-1) as Values;
    const values = optional.map(
      ([name, [option]]) => [name, chosen[name] ?? chosen[option!.attributeName()]] as const,
    );
    const arguments_ = [...required.map(({ name }) => name), FILE].map(
      (name, at) => [name, given[at]] as const,
    );
    return changed(Object.fromEntries([...values, ...arguments_]));
  };
}

async function send(
  client: Client,
  { inputs, method, path, sends, sendsFile, returns }: Operation,
  values: Values,
) {
  const partIn = async (place: string) => {
    const part: Record<string, unknown> = {};
    for (const input of inputs.filter((each) => each.in === place)) {
      const value = values[input.name];
      part[input.name] =
        input['x-secret'] && value !== undefined ? await readSecret(input, value as string) : value;
    }
    return part;
  };
  return call(client, method, path, {
    params: { path: await partIn('path'), query: await partIn('query') },
    ...(sends && !sendsFile && { body: await partIn('body') }),
    // Sends a file unparsed, because an EAN may be a number that JavaScript would round.
    ...(sendsFile && {
      body: await readInput(values[FILE] as string),
      bodySerializer: String,
      headers: { 'content-type': sends },
    }),
    parseAs: returns === undefined || returns[0] === JSON_TYPE ? 'json' : 'text',
  });
}

/** Returns what a call without a response body has done. */
function doneTo({ method, inputs }: Operation, values: Values): object {
  const id = inputs.findLast(({ in: place }) => place === 'path')?.name;
  return { id: id && values[id], [method === 'delete' ? 'deleted' : 'done']: true };
}

/**
 * Replaces the names in braces of the effect by the values of the inputs. If it names a field of the item that the call is about, reads the
 * item.
 */
async function effectOf(
  client: Client,
  { path }: Operation,
  effect: string,
  values: Values,
): Promise<string> {
  const names = [...effect.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const isKnown = names.every((name) => values[name] !== undefined);
  const itemPath = path.slice(0, path.lastIndexOf('}') + 1);
  const { data } = isKnown ? {} : await call(client, 'get', itemPath, { params: { path: values } });
  const known = { ...(data as object), ...values } as Readonly<Record<string, string | number | null>>;
  return effect.replace(/\{(\w+)\}/g, (_, name: string) => visibleText(String(known[name] ?? 'unknown')));
}
