import type { Document, Parameter, Request } from './hostile-requests.js';
import {
  EDGE_INSTANTS,
  EDGE_INTEGERS,
  edgesLike,
  readCursor,
  writeCursor,
  type Cursors,
} from './odd-cursors.js';

/** Returns the query parameters of every GET operation without path parameters. */
export function parametersOf(document: Document): readonly (Parameter & { readonly path: string })[] {
  return Object.entries(document.paths).flatMap(([path, { get }]) =>
    path.includes('{')
      ? []
      : (get?.parameters ?? [])
          .filter((parameter) => parameter.in === 'query')
          .map((parameter) => ({ ...parameter, path })),
  );
}

/** Names that JavaScript gives a meaning, or that every object inherits. */
const SPECIAL_NAMES = [...Object.getOwnPropertyNames(Object.prototype), 'prototype', 'then', 'toJSON'];

/** Returns requests with each special name as a query parameter, behind each prefix, in each cursor, in each body and its metadata. */
function specialNames(document: Document): Request[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody, parameters = [], responses }]) => {
      const at = parameters.reduce(
        (text, { name, example: id }) => text.replace(`{${name}}`, String(id)),
        path,
      );
      const request = { method: method.toUpperCase(), statuses: Object.keys(responses) };
      const example = requestBody?.content['application/json'].example as object | undefined;
      const json = { 'content-type': 'application/json' };
      return SPECIAL_NAMES.flatMap((name): Request[] => {
        const queries = [
          [name, '1'],
          [`metadata.${name}`, '1'],
          [`metadata[${name}]`, '1'],
          ['cursor', name],
        ];
        const odd = { [name]: 1 };
        const bodies = requestBody === undefined ? [] : [odd, { metadata: odd }, { metadata: { a: odd } }];
        return [
          ...(method === 'get' ? queries : []).map((query) => ({
            ...request,
            path: `${at}?${new URLSearchParams([query as [string, string]]).toString()}`,
            headers: {},
          })),
          ...bodies.map((body) => ({
            ...request,
            path: at,
            headers: json,
            body: JSON.stringify({ ...example, ...body }),
          })),
        ];
      });
    }),
  );
}

/** Returns requests with each edge value in each place of each cursor and in each query parameter of an instant or a position, and nulls in bodies. */
export function edgeRequests(document: Document, cursors: Cursors): Request[] {
  const inCursors = Object.entries(cursors).flatMap(([path, cursor]) => {
    const values = readCursor(cursor);
    const odd = values.flatMap((value, at) =>
      edgesLike(value).map((edge) => writeCursor(values.with(at, edge))),
    );
    return [cursor, ...odd].map((text) => getOf(document, path, 'cursor', text));
  });
  const inQueries = parametersOf(document).flatMap(({ path, name, schema }) => {
    const edges = schema.format === 'date-time' ? EDGE_INSTANTS : name === 'after' ? EDGE_INTEGERS : [];
    return edges.map((edge) => getOf(document, path, name, edge));
  });
  return [...inCursors, ...inQueries, ...nullsInBodies(document), ...specialNames(document)];
}

/** Returns the example of each body with null in each property of its schema. */
function nullsInBodies({ paths, components }: Document): Request[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody, parameters = [], responses }]) => {
      if (requestBody === undefined) return [];
      const { schema, example } = requestBody.content['application/json'];
      const { properties = {} } = components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
      const target = parameters.reduce(
        (text, { name, example: id }) => text.replace(`{${name}}`, String(id)),
        path,
      );
      return Object.keys(properties).map((name) => ({
        method: method.toUpperCase(),
        path: target,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...(example as object | undefined), [name]: null }),
        statuses: Object.keys(responses),
      }));
    }),
  );
}

const getOf = (document: Document, path: string, name: string, value: string): Request => ({
  method: 'GET',
  path: `${path}?${new URLSearchParams({ limit: '2', [name]: value }).toString()}`,
  headers: {},
  statuses: Object.keys(document.paths[path]?.get?.responses ?? {}),
});
