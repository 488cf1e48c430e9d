import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';

/** Calls made to a running service, by operationId; stored in docs/examples.json. */
export type RecordedExamples = Readonly<Record<string, RecordedExample>>;

export interface RecordedExample {
  /** Parameters of the path and the query, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly request?: unknown;
  /** The response bodies by status; null for a response without one. */
  readonly responses: Readonly<Record<string, unknown>>;
}

/** Adds each recorded call to its operation as an example. Throws if the document lacks an operation or a status that was recorded. */
export function addExamples(document: OpenAPIObject, examples: RecordedExamples): void {
  const operations = new Map(operationsOf(document).map((operation) => [operation.operationId, operation]));
  for (const [operationId, { parameters = {}, request, responses }] of Object.entries(examples)) {
    const operation = operations.get(operationId);
    if (operation === undefined)
      throw new Error(`docs/examples.json has a call to ${operationId}, which is no operation`);
    for (const parameter of operation.parameters ?? []) {
      const text = parameters[parameter.name];
      if (text !== undefined) parameter.example = parameter.schema?.type === 'integer' ? Number(text) : text;
    }
    const body = Object.values(operation.requestBody?.content ?? {})[0];
    if (body !== undefined && request !== undefined) body.example = request;
    for (const [status, answer] of Object.entries(responses)) {
      const response = operation.responses[status];
      if (response === undefined)
        throw new Error(`${operationId} answered ${status}, which its documentation does not have`);
      const content = Object.values(response.content ?? {})[0];
      if (content !== undefined) content.example = answer;
    }
  }
}
