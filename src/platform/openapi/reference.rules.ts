import { samplesOf, type SampledParameter } from './samples.rules.js';

interface Operation {
  readonly operationId: string;
  readonly description?: string;
  readonly parameters?: readonly SampledParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly security?: readonly object[];
  readonly 'x-required-scope'?: string;
  readonly 'x-scope-of'?: Readonly<Record<string, string>>;
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Returns the description of the API as the reference shows it: each operation names its scopes, and has samples. */
export function referenceOf<T extends { readonly paths: object }>(document: T): T {
  const paths = Object.entries(document.paths as Paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [method, described(method, path, operation)]),
    ),
  ]);
  return { ...document, paths: Object.fromEntries(paths) as object };
}

function described(method: string, path: string, operation: Operation): object {
  const { description = '', parameters = [], requestBody, security = [] } = operation;
  const [contentType, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return {
    ...operation,
    description: `${scopesOf(operation)}\n\n${description}`,
    'x-codeSamples': samplesOf({
      method,
      path,
      parameters,
      contentType,
      body: media?.example ?? {},
      needsKey: security.length > 0,
    }),
  };
}

function scopesOf(operation: Operation): string {
  const { 'x-required-scope': scopes, 'x-scope-of': parts } = operation;
  if (scopes === undefined) return '**Needs no key.**';
  const list = scopes
    .split(/( \| | )/)
    .map((part) => (/\w/.test(part) ? `\`${part}\`` : part.includes('|') ? ' or ' : ' and '))
    .join('');
  const byScope = Object.entries(parts ?? {}).map(([part, scope]) => `${part}: \`${scope}\``);
  return `**Scope:** ${list}${byScope.length === 0 ? '' : `. What the response has follows from it: ${byScope.join(', ')}`}`;
}
