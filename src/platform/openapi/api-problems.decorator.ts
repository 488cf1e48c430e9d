import { ApiProperty, ApiPropertyOptional, ApiResponse } from '@nestjs/swagger';
import { PROBLEMS, type ProblemCode } from '../problem/problem.js';

const CODES = 'pv-onboarding:problems';

/** RFC 9457, for the documentation only; `problem-answer.ts` writes the actual responses. */
export class FieldErrorView {
  @ApiProperty({
    description: 'A path in the body such as `gridLocations[0].ean`, or the name of a parameter',
  })
  field: string;

  @ApiProperty({ description: 'What is expected there' })
  message: string;
}

/** The body of every error response, as application/problem+json. */
export class ProblemView {
  @ApiProperty({ format: 'uri-reference', description: 'Where the code is explained' })
  type: string;

  @ApiProperty()
  title: string;

  @ApiProperty({ type: 'integer' })
  status: number;

  @ApiProperty({ description: 'What happened this time, for people' })
  detail: string;

  @ApiProperty({ enum: Object.keys(PROBLEMS), description: 'Stable: decide by this' })
  code: ProblemCode;

  @ApiPropertyOptional({ type: [FieldErrorView], description: 'The parts of the request that are at fault' })
  errors?: readonly FieldErrorView[];

  @ApiProperty({ description: 'The X-Request-Id of this answer' })
  requestId: string;
}

/** Documents the problems of a route. Several uses on one method add up. */
export const ApiProblems =
  (...codes: readonly ProblemCode[]): MethodDecorator =>
  (target, key, descriptor) => {
    const handler = descriptor.value as object;
    const all = new Set([
      ...((Reflect.getMetadata(CODES, handler) as ProblemCode[] | undefined) ?? []),
      ...codes,
    ]);
    Reflect.defineMetadata(CODES, [...all], handler);
    for (const status of new Set(codes.map((code) => PROBLEMS[code].status))) {
      const ofStatus = [...all].filter((code) => PROBLEMS[code].status === status);
      // `problems.ts` reads the codes from this description and expands it.
      ApiResponse({ status, description: ofStatus.join(' '), type: ProblemView })(target, key, descriptor);
    }
  };
