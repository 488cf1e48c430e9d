import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { refuse } from './validation.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * `@Param('userId', ParseUuid)`: validates an id and returns it in lower case, as PostgreSQL does. Any version: most ids are remote ones.
 */
export class ParseUuid implements PipeTransform<string, string> {
  transform(value: string, { data }: ArgumentMetadata): string {
    if (!UUID.test(value)) refuse([{ field: data ?? 'id', message: 'must be a UUID' }]);
    return value.toLowerCase();
  }
}
