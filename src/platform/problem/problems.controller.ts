import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { ApiProblems } from '../openapi/api-problems.decorator.js';
import { Public } from '../http/public.decorator.js';
import { Problem, PROBLEMS, type ProblemCode } from './problem.js';

export class ProblemKindView {
  @ApiProperty({ enum: Object.keys(PROBLEMS) })
  code: ProblemCode;

  @ApiProperty({ type: 'integer' })
  status: number;

  @ApiProperty()
  title: string;

  @ApiProperty({ description: 'When it is answered, and what to do' })
  meaning: string;
}

/** The target of every problem's `type`. */
@ApiTags('Operation')
@Controller('problems')
export class ProblemsController {
  @Get(':code')
  @Public()
  @ApiOperation({ operationId: 'getProblem', summary: 'What a problem code means' })
  @ApiOkResponse({ type: ProblemKindView })
  @ApiProblems('not_found')
  explain(@Param('code') code: string): ProblemKindView {
    if (!isCode(code)) throw new Problem('not_found', 'There is no such problem code');
    return { code, ...PROBLEMS[code] };
  }
}

const isCode = (text: string): text is ProblemCode => Object.hasOwn(PROBLEMS, text);
