/** A schema of openapi.json. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly (string | null)[];
  readonly default?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: unknown;
  readonly patternProperties?: unknown;
  /** In a response: not shown to people, or with `once` shown alone, because no later response has it. In a request: read from a file. */
  readonly 'x-secret'?: true | 'once';
  readonly 'x-columns'?: Columns;
}

/** The columns of a list by their titles: a field, `field.field`, or `field:10`, which is cut to this width. */
export type Columns = Readonly<Record<string, string>>;

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

interface Described {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses?: Readonly<Record<string, { readonly content?: Content }>>;
  readonly 'x-command'?: string | false;
  readonly 'x-columns'?: Columns;
  readonly 'x-confirm'?: string;
}

/** The part of openapi.json that commands need. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** A value that a command takes: as an argument if it is required, else as an option. */
export interface Input extends Omit<Schema, 'required'> {
  readonly name: string;
  readonly in: string;
  readonly isRequired: boolean;
}

/** An operation that has a command. */
export interface Operation extends Described {
  readonly method: string;
  readonly path: string;
  /** The words of the command, such as `webhooks list`. */
  readonly command: string;
  readonly inputs: readonly Input[];
  /** The media type of the body of the request. */
  readonly sends?: string | undefined;
  /** Whether the body of the request is a file, which is sent as it is. */
  readonly sendsFile: boolean;
  /** The media type and the schema of the body of the response. */
  readonly returns?: readonly [type: string, schema: Schema] | undefined;
}

export type Resolve = (schema?: Schema) => Schema;

const PREFIX = '/api/v1/';
export const JSON_TYPE = 'application/json';

export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const typeOf = ({ type = 'string' }: Pick<Schema, 'type'>): string =>
  typeof type === 'string' ? type : type.find((each) => each !== 'null')!;

export const isListOfTexts = (list: Pick<Schema, 'type' | 'items'>): boolean =>
  typeOf(list) === 'array' && typeOf(list.items ?? {}) === 'string';

/** Returns the function that follows references, and takes the first of several schemas. The items of a list are resolved too. */
export const resolverOf = ({ components }: Description): Resolve =>
  function resolve({ $ref, allOf, anyOf, oneOf, ...own }: Schema = {}): Schema {
    const named = $ref && components?.schemas?.[$ref.split('/').at(-1)!];
    const base = named || allOf?.[0] || oneOf?.[0] || anyOf?.find(({ type }) => type !== 'null');
    const schema = base ? { ...resolve(base), ...own } : own;
    return schema.items ? { ...schema, items: resolve(schema.items) } : schema;
  };

/** Returns the operations that have a command. */
export const operationsOf = (description: Description): Operation[] =>
  Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => {
      const command = described['x-command'] ?? commandOf(method, path, described.operationId);
      if (command === false) return [];
      return [{ ...described, command, method, path, ...partsOf(resolverOf(description), path, described) }];
    }),
  );

/** Returns the words of a command: the first part of the path, and what the operation does there. */
function commandOf(method: string, path: string, operationId: string): string | false {
  if (!path.startsWith(PREFIX)) return false;
  const parts = path.slice(PREFIX.length).split('/');
  const [group, ...rest] = parts.filter((part) => !part.startsWith('{'));
  const does = kebab(operationId);
  const [verb = ''] = does.split('-');
  if (rest.length === 0) return `${group} ${['read', 'get'].includes(verb) ? 'show' : verb}`;
  const isNamedByPath = method === 'get' ? !parts.at(-1)!.startsWith('{') : rest.at(-1)!.startsWith(verb);
  return `${group} ${isNamedByPath ? rest.join('-') : does}`;
}

function partsOf(resolve: Resolve, path: string, described: Described) {
  const { parameters = [], requestBody, responses = {}, 'x-columns': columns } = described;
  const placeOf = (name: string) => (path.includes(`{${name}}`) ? path.indexOf(`{${name}}`) : path.length);
  const ofUrl = parameters
    .filter(({ in: place }) => place !== 'header')
    .map(({ schema, required = false, ...parameter }) => ({
      ...resolve(schema),
      ...parameter,
      isRequired: required,
    }))
    .sort((one, other) => placeOf(one.name) - placeOf(other.name));
  const [sends, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const { properties, required = [] } = resolve(content?.schema);
  const ofBody = Object.entries(properties ?? {}).map(([name, schema]) => {
    const { required: _, ...property } = resolve(schema);
    return { ...property, name, in: 'body', isRequired: required.includes(name) };
  });
  // Nobody writes a list of objects as an argument.
  const isNested = (input: Input) =>
    input.isRequired && ['object', 'array'].includes(typeOf(input)) && !isListOfTexts(input);
  const isObject = sends === JSON_TYPE && properties !== undefined;
  const sendsFile = sends !== undefined && (!isObject || ofBody.some(isNested));
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const [returned] = Object.entries(success?.content ?? {});
  return {
    inputs: sendsFile ? ofUrl : [...ofUrl, ...ofBody],
    sends,
    sendsFile,
    returns: returned && ([returned[0], withColumns(resolve(returned[1].schema), columns)] as const),
  };
}

/** Returns the schema of a response whose `items` have these columns. */
const withColumns = (schema: Schema, columns: Columns | undefined): Schema =>
  columns === undefined
    ? schema
    : { ...schema, properties: { items: { ...schema.properties?.items, 'x-columns': columns } } };

/** The usual widths in a table. A text gets what the other columns leave. */
const WIDTHS = { table: 100, uuid: 36, text: 16, other: 7 };

/** Returns the columns of a list that names none: its first values that fit side by side. */
export function defaultColumns(resolve: Resolve, item: Schema): Columns {
  let left = WIDTHS.table;
  const columns = Object.entries(item.properties ?? {}).flatMap(([name, property]) => {
    const schema = resolve(property);
    const { enum: values = [], format } = schema;
    // A field with one possible value does not tell the rows of a list apart.
    if (schema['x-secret'] || ['object', 'array'].includes(typeOf(schema)) || values.length === 1) return [];
    const title = kebab(name.replace(/(?<=.)(Id|At)$/, '')).replaceAll('-', ' ');
    const isText = typeOf(schema) === 'string' && format === undefined && values.length === 0;
    const longest = Math.max(WIDTHS.other, title.length, ...values.map((value) => value?.length ?? 0));
    left -= (isText ? WIDTHS.text : format === 'uuid' ? WIDTHS.uuid : longest) + '  '.length;
    return left < 0 ? [] : [{ title: title.toUpperCase(), name, isText, left }];
  });
  const texts = columns.filter(({ isText }) => isText).length;
  const width = WIDTHS.text + Math.floor((columns.at(-1)?.left ?? 0) / texts);
  return Object.fromEntries(
    columns.map(({ title, name, isText }) => [title, isText ? `${name}:${width}` : name]),
  );
}
