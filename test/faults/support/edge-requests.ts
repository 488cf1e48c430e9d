import type { Document, Parameter, Request } from './hostile-requests.js';
import {
  EDGE_INSTANTS,
  EDGE_INTEGERS,
  edgesLike,
  readCursor,
  writeCursor,
  type Cursors,
} from './odd-cursors.js';

/** The query parameters of every operation that only reads and has no part in its path to fill in. */
export function parametersOf(document: Document): readonly (Parameter & { readonly path: string })[] {
  return Object.entries(document.paths).flatMap(([path, { get }]) =>
    path.includes('{')
      ? []
      : (get?.parameters ?? [])
          .filter((parameter) => parameter.in === 'query')
          .map((parameter) => ({ ...parameter, path })),
  );
}

/** Every edge in every value of every cursor, and in every query parameter that takes an instant or a position. */
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
  return [...inCursors, ...inQueries];
}

const getOf = (document: Document, path: string, name: string, value: string): Request => ({
  method: 'GET',
  path: `${path}?${new URLSearchParams({ limit: '2', [name]: value }).toString()}`,
  headers: {},
  statuses: Object.keys(document.paths[path]?.get?.responses ?? {}),
});
