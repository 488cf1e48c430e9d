import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { refuse } from './validation.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns the UUID in lower case, as PostgreSQL does; throws for other text. Accepts any version: the remote service makes most ids. */
export class ParseUuid implements PipeTransform<string, string> {
  transform(value: string, { data }: ArgumentMetadata): string {
    if (!UUID.test(value)) refuse([{ field: data ?? 'id', message: 'must be a UUID' }]);
    return value.toLowerCase();
  }
}
