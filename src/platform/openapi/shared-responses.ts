import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf, type Response } from './operations.js';

/**
 * Moves the problem responses that many operations share to the components and refers to them: written out, they would be nine tenths of
 * the document. A response with its own example stays in place.
 */
export function shareProblems(document: OpenAPIObject): void {
  const shared: Record<string, Response> = {};
  for (const { responses } of operationsOf(document)) {
    for (const [status, response] of Object.entries(responses)) {
      const problem = response.content?.['application/problem+json'];
      if (problem === undefined || 'example' in problem) continue;
      const name = [...response.description.matchAll(/^`(\w+)`:/gm)].map(([, code]) => code).join('-or-');
      shared[name] = response;
      Object.assign(responses, { [status]: { $ref: `#/components/responses/${name}` } });
    }
  }
  document.components = { ...document.components, responses: shared };
}
