import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';

/** Calls that were made to a running service, by operationId. docs/examples.json holds them. */
export type RecordedExamples = Readonly<Record<string, RecordedExample>>;

export interface RecordedExample {
  /** Of the path and the query, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly request?: unknown;
  /** The answered bodies by status; null where there is none. */
  readonly responses: Readonly<Record<string, unknown>>;
}

/** Puts each recorded call beside the operation it was made to. Throws when a call was made that the document does not have. */
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
