import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { PROBLEMS, type ProblemCode } from '../problem/problem.js';
import { ProblemView } from './api-problems.decorator.js';
import type { Operation, Response } from './operations.js';
import { RETRY_AFTER } from './response-headers.js';

/** Expands the codes from `@ApiProblems`, and adds the problems that every route of a kind may return. */
export function describeProblems(document: OpenAPIObject): void {
  for (const [method, operation] of methodsOf(document)) {
    const codes = [...declaredCodes(operation), ...generalCodes(method, operation)];
    for (const status of new Set(codes.map((code) => PROBLEMS[code].status))) {
      const ofStatus = [...new Set(codes)].filter((code) => PROBLEMS[code].status === status);
      operation.responses[status] = responseOf(ofStatus);
    }
  }
}

function declaredCodes({ responses }: Operation): ProblemCode[] {
  const isProblem = ([status, { content }]: [string, Response]) =>
    Number(status) >= 400 &&
    Object.values(content ?? {}).some(
      ({ schema }) => schema && '$ref' in schema && schema.$ref === getSchemaPath(ProblemView),
    );
  return Object.entries(responses)
    .filter(isProblem)
    .flatMap(([, { description }]) => description.split(' ') as ProblemCode[]);
}

const methodsOf = (document: OpenAPIObject): [string, Operation][] =>
  Object.values(document.paths).flatMap((path) => Object.entries(path as Record<string, Operation>));

/** Headers are refused on every route. A body that is not JSON is refused even where none is needed. */
function generalCodes(method: string, { security }: Operation): ProblemCode[] {
  return [
    'invalid_request',
    'request_timeout',
    'headers_too_large',
    'internal_error',
    ...(method === 'get' ? [] : (['invalid_json', 'body_too_large', 'unsupported_media_type'] as const)),
    ...(security?.length ? (['database_unavailable'] as const) : []),
  ];
}

function responseOf(codes: readonly ProblemCode[]): Response {
  const mayPass = codes.some((code) => [429, 503].includes(PROBLEMS[code].status));
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].meaning}`).join('\n\n'),
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
    ...(mayPass && { headers: RETRY_AFTER }),
  };
}
