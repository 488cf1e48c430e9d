import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { count, oneOf, resourceOf, text } from '../openapi/schema-of.js';
import { Public } from '../http/public.decorator.js';
import { Problem, PROBLEMS, type ProblemCode } from './problem.js';

class ProblemKindView extends resourceOf('problem_kind', {
  code: oneOf(Object.keys(PROBLEMS)),
  status: count(),
  title: text(),
  meaning: text('When the problem occurs, and what to do'),
}) {}

/** Explains each problem code at the address that the `type` of a problem names. */
@ApiTags('Operation')
@Controller('problems')
export class ProblemsController {
  @Get(':code')
  @Public()
  @ApiOperation({
    operationId: 'getProblem',
    summary: 'What a problem code means',
    description: 'The `type` of every problem is the address of this page. Needs no key.',
  })
  @ApiOkResponse({ type: ProblemKindView })
  explain(@Param('code') code: string) {
    if (!Object.hasOwn(PROBLEMS, code)) throw new Problem('not_found', 'There is no such problem code');
    return ProblemKindView.of({ code, ...PROBLEMS[code as ProblemCode] });
  }
}
