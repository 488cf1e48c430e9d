/** What the samples of an operation are made from. */
export interface SampledOperation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly SampledParameter[];
  readonly contentType: string | undefined;
  /** The example of the body, or a schema's own smallest body if there is none. */
  readonly body: unknown;
  readonly needsKey: boolean;
}

export interface SampledParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: string;
}

interface Sample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

const INDENT = 2;

/** Returns how the operation is called with curl, with the client in TypeScript, and with the standard library of Python. */
export const samplesOf = (operation: SampledOperation): Sample[] => [
  { lang: 'shell', label: 'curl', source: curlOf(operation) },
  { lang: 'typescript', label: 'TypeScript', source: typescriptOf(operation) },
  { lang: 'python', label: 'Python', source: pythonOf(operation) },
];

const isJson = ({ contentType }: SampledOperation): boolean => contentType === 'application/json';

/** Returns the path with the examples of its parameters, and with the parameters of the query that must be given. */
function addressOf({ path, parameters }: SampledOperation): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(exampleOf(parameters, name)),
  );
  const query = parameters.filter((each) => each.in === 'query' && each.required === true);
  const pairs = query.map(({ name }) => `${name}=${encodeURIComponent(exampleOf(parameters, name))}`);
  return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`;
}

const exampleOf = (parameters: readonly SampledParameter[], name: string): string =>
  parameters.find((each) => each.name === name)?.example ?? name;

function curlOf(operation: SampledOperation): string {
  const { method, contentType, body, needsKey } = operation;
  const verb = method === 'get' ? [] : [`-X ${method.toUpperCase()}`];
  const url = `"$PV_URL${addressOf(operation)}"`;
  const lines = [`curl ${[...verb, url].join(' ')}`];
  if (needsKey) lines.push('-H "Authorization: Bearer $PV_KEY"');
  if (contentType !== undefined) lines.push(`-H 'Content-Type: ${contentType}'`);
  if (isJson(operation)) lines.push(`-d '${JSON.stringify(body, null, INDENT).replaceAll("'", `'\\''`)}'`);
  else if (contentType !== undefined) lines.push('--data-binary @customers.csv');
  return lines.join(' \\\n  ');
}

function typescriptOf(operation: SampledOperation): string {
  const { method, parameters, contentType, body, needsKey } = operation;
  // The client describes what an API key may call in JSON. Other paths and bodies are sent with fetch.
  if (!needsKey || (contentType !== undefined && !isJson(operation))) return fetchOf(operation);
  const given = (place: string) => {
    const required = parameters.filter((each) => each.in === place && each.required === true);
    const pairs = required.map(({ name, example = name }) => [name, example]);
    return pairs.length === 0 ? undefined : (Object.fromEntries(pairs) as object);
  };
  const [path, query] = [given('path'), given('query')];
  const options = {
    ...((path ?? query) && { params: { path, query } }),
    ...(contentType !== undefined && { body }),
  };
  const rest = Object.keys(options).length === 0 ? '' : `, ${toScript(options)}`;
  return `import { createClient } from '@pv-onboarding/client';

const { PV_URL = '', PV_KEY = '' } = process.env;
const client = createClient({ baseUrl: PV_URL, apiKey: PV_KEY });
const { data } = await client.${method.toUpperCase()}('${operation.path}'${rest});
console.log(data);
`;
}

function fetchOf(operation: SampledOperation): string {
  const { method, contentType, needsKey } = operation;
  const headers = [
    ...(needsKey ? ['authorization: `Bearer ${process.env.PV_KEY}`'] : []),
    ...(contentType === undefined ? [] : [`'content-type': '${contentType}'`]),
  ];
  const options = [
    ...(method === 'get' ? [] : [`method: '${method.toUpperCase()}'`]),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(', ')} }`]),
    ...(contentType === undefined ? [] : [`body: await readFile('customers.csv')`]),
  ];
  const rest = options.length === 0 ? '' : `, {\n  ${options.join(',\n  ')},\n}`;
  const head = contentType === undefined ? '' : "import { readFile } from 'node:fs/promises';\n\n";
  return `${head}const response = await fetch(\`\${process.env.PV_URL}${addressOf(operation)}\`${rest});
console.log(response.status, await response.text());
`;
}

function pythonOf(operation: SampledOperation): string {
  const { method, contentType, body, needsKey } = operation;
  const headers = [
    ...(needsKey ? [`"Authorization": f"Bearer {os.environ['PV_KEY']}"`] : []),
    ...(contentType === undefined ? [] : [`"Content-Type": "${contentType}"`]),
  ];
  const data = isJson(operation)
    ? [`data=json.dumps(${toPython(body)}).encode()`]
    : contentType === undefined
      ? []
      : ['data=open("customers.csv", "rb").read()'];
  const lines = [
    `os.environ["PV_URL"] + ${JSON.stringify(addressOf(operation))}`,
    `method="${method.toUpperCase()}"`,
    ...(headers.length === 0 ? [] : [`headers={${headers.join(', ')}}`]),
    ...data,
  ];
  return `import ${isJson(operation) ? 'json, ' : ''}os, urllib.request

request = urllib.request.Request(
    ${lines.join(',\n    ')},
)
with urllib.request.urlopen(request) as response:
    print(response.status, response.read().decode())
`;
}

/** Returns JSON as a literal of TypeScript, without quotes at names that need none. */
const toScript = (value: object): string =>
  JSON.stringify(value, null, INDENT).replace(/^( *)"([A-Za-z_]\w*)":/gm, '$1$2:');

const IN_PYTHON: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

/** Returns JSON as a literal of Python. Only a value that is no text ends a line with one of these words. */
const toPython = (value: unknown): string =>
  JSON.stringify(value, null, 2 * INDENT)
    .replace(/(?:true|false|null)(?=,?$)/gm, (word) => IN_PYTHON[word]!)
    .replaceAll('\n', '\n    ');
