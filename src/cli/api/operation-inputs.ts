import { InvalidArgumentError, Option } from 'commander';
import { CommandError } from '../command-error.js';
import { readId, readInput } from '../read-input.js';
import { isListOfTexts, kebab, typeOf, type Input } from './operation.rules.js';

/** The name of an option. For a flag: the names of the options that set it to true and to false. */
export type OptionName = string | readonly [string, string];

/**
 * Returns whether the command takes an input as an argument. A secret is never an argument, because every user of the machine can read a
 * command line.
 */
export const isArgument = (input: Input): boolean => input.isRequired && !input['x-secret'];

export const choicesOf = (values: readonly (string | null)[]): string[] =>
  values.filter((value) => value !== null);

/** Returns the options of an input, of which there are two if `named` has two names. */
export function optionsOf(input: Input, named: OptionName = kebab(input.name)): Option[] {
  const { name, isRequired, enum: values } = input;
  const text = textOf(input);
  if (typeof named !== 'string') {
    const [yes, no] = named.map((flag, at) => new Option(`--${flag}`, text).implies({ [name]: at === 0 }));
    return [yes!, no!.conflicts(named[0])];
  }
  if (typeOf(input) === 'boolean')
    return [new Option(`--${input.default === true ? 'no-' : ''}${named}`, text)];
  const [takes, parse] = readerOf(input);
  const option = input['x-secret']
    ? new Option(`--${named}-file <file>`, `${text}; - reads the standard input`)
    : new Option(`--${named} <${takes}>`, text);
  if (values !== undefined) option.choices(choicesOf(values));
  else if (parse !== undefined && !input['x-secret']) option.argParser(parse);
  return [option.makeOptionMandatory(isRequired)];
}

/** Returns the description of an input, for the help. */
export function textOf({ name, description = `Only with this ${name}`, ...schema }: Input): string {
  const text = description.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
  return isListOfTexts(schema) ? `${text}; separated by commas` : text;
}

type Parse = (text: string, before: unknown) => unknown;

/** Returns what the help calls a value, and how its text is read. The service reads the numbers and instants of a query itself. */
export function readerOf(input: Input): readonly [takes: string, parse?: Parse] {
  const type = typeOf(input);
  const isOfQuery = input.in === 'query';
  if (isListOfTexts(input)) return ['list', (text) => text.split(',').map((part) => part.trim())];
  if (type === 'object' && (input.additionalProperties === true || input.patternProperties))
    return [
      'key=value',
      (text, before) => ({ ...(before as object), ...readPair(text, isOfQuery ? `${input.name}.` : '') }),
    ];
  if (['object', 'array', 'boolean'].includes(type)) return ['json', readJson];
  if (type === 'integer' || type === 'number') return ['number', isOfQuery ? undefined : readNumber];
  if (input.format === 'uuid') return ['id', readId];
  return [input.format === 'date-time' ? 'instant' : 'text'];
}

function readNumber(text: string): number {
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be a number.');
  return Number(text);
}

function readPair(text: string, prefix: string): object {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined) throw new InvalidArgumentError('It must be a key, = and a value.');
  return { [`${prefix}${key}`]: value };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('It must be JSON.');
  }
}

/** Reads a secret from a file. An object, such as the headers of an endpoint, is JSON. */
export async function readSecret(input: Input, file: string): Promise<unknown> {
  const text = (await readInput(file)).trim();
  if (typeOf(input) !== 'object') return text;
  try {
    return JSON.parse(text);
  } catch {
    // The error of JSON.parse would repeat the text.
    throw new CommandError('invalid_file', `The file of the ${input.name} is not JSON.`);
  }
}
