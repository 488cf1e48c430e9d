import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, getSchemaPath } from '@nestjs/swagger';

/** Documents a route whose response is a cursor-paged list of `item`. */
export const ApiPage = (item: Type): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(item),
    ApiOkResponse({
      description: 'One page. To get the next page, send `next` as `cursor`, until it is null',
      schema: {
        type: 'object',
        required: ['items', 'next'],
        properties: {
          items: { type: 'array', items: { $ref: getSchemaPath(item) } },
          next: {
            type: 'string',
            nullable: true,
            description: 'The `cursor` of the next page; null when this is the last',
          },
        },
      },
    }),
  );
