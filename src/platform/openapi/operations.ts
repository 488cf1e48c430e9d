import type { OpenAPIObject } from '@nestjs/swagger';

export interface MediaType {
  schema?: object;
  example?: unknown;
}

export interface Response {
  description: string;
  content?: Record<string, MediaType>;
  headers?: Record<string, object>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  description?: string;
  schema?: { type?: string };
  example?: unknown;
}

/** The parts of an operation that the steps finishing the document read and write. */
export interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, Response>;
  security?: object[];
}

export function operationsOf(document: OpenAPIObject): Operation[] {
  return Object.values(document.paths).flatMap((path) => Object.values(path as Record<string, Operation>));
}
