import type { OpenAPIObject } from '@nestjs/swagger';
import type { ProblemCode } from '../../src/platform/problem/problem.js';
import type { PROBLEM_CODES } from '../../src/platform/openapi/api-problems.decorator.js';

export interface Response {
  description: string;
  content?: Record<string, { schema?: object; example?: unknown }>;
  headers?: Record<string, object>;
}

/** The parts of an operation that we read and change after Nest has created the document. */
export interface Operation {
  operationId: string;
  parameters?: {
    name: string;
    in: 'path' | 'query' | 'header' | 'cookie';
    required?: boolean;
    description?: string;
    schema?: { type?: string; format?: string; pattern?: string };
    example?: unknown;
  }[];
  requestBody?: Pick<Response, 'content'>;
  responses: Record<string, Response>;
  security?: object[];
  [PROBLEM_CODES]?: ProblemCode[];
  /** A POST that changes nothing. */
  'x-safe'?: boolean;
}

interface RecordedExample {
  /** Parameters of the path and the query, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly request?: unknown;
  /** The response bodies by status; null for a response without a body. */
  readonly responses: Readonly<Record<string, unknown>>;
}

/** Calls made to a running service, by operationId; stored in docs/openapi/examples.json. */
export type RecordedExamples = Readonly<Record<string, RecordedExample>>;

export function operationsOf(document: OpenAPIObject): Operation[] {
  return Object.values(document.paths).flatMap((path) => Object.values(path as Record<string, Operation>));
}

/** Adds each recorded call to its operation as an example. Throws if the document lacks a recorded operation or status. */
export function addExamples(document: OpenAPIObject, examples: RecordedExamples): void {
  const operations = new Map(operationsOf(document).map((operation) => [operation.operationId, operation]));
  for (const [operationId, { parameters = {}, request, responses }] of Object.entries(examples)) {
    const operation = operations.get(operationId);
    if (operation === undefined)
      throw new Error(`docs/openapi/examples.json has a call to ${operationId}, which is not an operation`);
    for (const parameter of operation.parameters ?? []) {
      const text = parameters[parameter.name];
      if (text !== undefined)
        parameter.example = ['integer', 'boolean'].includes(String(parameter.schema?.type))
          ? (JSON.parse(text) as unknown)
          : text;
    }
    const body = Object.values(operation.requestBody?.content ?? {})[0];
    if (body !== undefined && request !== undefined) body.example = request;
    for (const [status, example] of Object.entries(responses)) {
      const response = operation.responses[status];
      if (response === undefined)
        throw new Error(`${operationId} returned ${status}, which its documentation does not have`);
      const content = Object.values(response.content ?? {})[0];
      if (content !== undefined) content.example = example;
    }
  }
}

/** Says that the ids in paths are UUIDs: their pipe checks it, and Nest does not see the pipe. */
export function describeIds(document: OpenAPIObject): void {
  for (const { in: place, name, schema } of operationsOf(document).flatMap(
    ({ parameters = [] }) => parameters,
  ))
    if (place === 'path' && schema && /^id$|Id$/.test(name)) schema.format = 'uuid';
}

/** Merges paths that differ only in a parameter name, which OpenAPI forbids. Example: `/pv/{gridLocationId}` and `/pv/{sessionId}`. */
export function mergePaths({ paths }: OpenAPIObject): void {
  const shapeOf = (path: string) => path.replace(/\{\w+\}/g, '{id}');
  for (const [path, operations] of Object.entries(paths) as [string, Record<string, Operation>][]) {
    const shape = shapeOf(path);
    if (!Object.keys(paths).some((other) => other !== path && shapeOf(other) === shape)) continue;
    if (path.split('{').length !== 2) throw new Error('only paths with one parameter can be merged');
    for (const parameter of Object.values(operations).flatMap(({ parameters = [] }) => parameters)) {
      if (parameter.in !== 'path') continue;
      parameter.description = `The \`${parameter.name}\`. It is named \`id\`, because OpenAPI allows one parameter name for a path that several operations share`;
      parameter.name = 'id';
    }
    delete paths[path];
    paths[shape] = { ...paths[shape], ...operations };
  }
}
