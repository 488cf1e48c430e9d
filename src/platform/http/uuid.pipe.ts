import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { refuse } from './validation.js';

/** Returns the UUID in lower case, as PostgreSQL does; throws for other text. Accepts any version: the remote service makes most ids. */
export class ParseUuid implements PipeTransform<string, string> {
  transform(value: string, { data }: ArgumentMetadata): string {
    if (!isUUID(value, 'loose')) refuse([{ field: data ?? 'id', message: 'must be a UUID' }]);
    return value.toLowerCase();
  }
}
