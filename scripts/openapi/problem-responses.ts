import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { PROBLEMS, type ProblemCode } from '../../src/platform/problem/problem.js';
import { PROBLEM_CODES, ProblemView } from '../../src/platform/openapi/api-problems.decorator.js';
import { operationsOf, type Operation, type Response } from './operations.js';
import { RETRY_AFTER } from '../../src/platform/openapi/response-headers.js';
import { WWW_AUTHENTICATE } from './common-headers.js';

/** Adds the codes of general problems to each operation, and a response for each status of its problems. */
export function describeProblems(document: OpenAPIObject): void {
  const methods = Object.values(document.paths).flatMap((path) => Object.entries(path));
  for (const [method, operation] of methods as [string, Operation][]) {
    const codes = new Set([...generalCodes(method, operation), ...(operation[PROBLEM_CODES] ?? [])]);
    operation[PROBLEM_CODES] = [...codes];
    for (const code of codes) {
      const { status } = PROBLEMS[code];
      operation.responses[status] = responseOf(codesOf(operation, status));
    }
  }
}

/** Moves problem responses without an example to the components. Repeated in each operation, they would be nine tenths of the document. */
export function shareProblems(document: OpenAPIObject): void {
  const shared: Record<string, Response> = {};
  for (const operation of operationsOf(document)) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const problem = response.content?.['application/problem+json'];
      if (problem === undefined || 'example' in problem) continue;
      const name = codesOf(operation, Number(status)).join('-or-');
      shared[name] = response;
      Object.assign(operation.responses, { [status]: { $ref: `#/components/responses/${name}` } });
    }
  }
  document.components = { ...document.components, responses: shared };
}

const codesOf = (operation: Operation, status: number): ProblemCode[] =>
  (operation[PROBLEM_CODES] ?? []).filter((code) => PROBLEMS[code].status === status);

/** Returns the problems that follow from the method and the parameters. A body is checked even if the operation takes no body. */
function generalCodes(method: string, { parameters = [], security }: Operation): ProblemCode[] {
  return [
    'invalid_request',
    'request_timeout',
    'headers_too_large',
    'internal_error',
    ...(parameters.some((parameter) => parameter.in === 'path') ? (['not_found'] as const) : []),
    ...(method === 'get' ? [] : (['invalid_json', 'body_too_large', 'unsupported_media_type'] as const)),
    ...(security?.length ? (['database_unavailable'] as const) : []),
  ];
}

function responseOf(codes: readonly ProblemCode[]): Response {
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].meaning}`).join('\n\n'),
    headers: {
      ...(codes.some((code) => [429, 503].includes(PROBLEMS[code].status)) && RETRY_AFTER),
      ...(codes.includes('unauthenticated') && WWW_AUTHENTICATE),
    },
    content: {
      'application/problem+json': {
        schema: {
          allOf: [
            { $ref: getSchemaPath(ProblemView) },
            { type: 'object', properties: { code: { enum: codes } } },
          ],
        },
      },
    },
  };
}
