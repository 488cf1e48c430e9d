import * as schema from '../../platform/openapi/schema-of.js';
import { keyOf } from '../../platform/database/personal-data.js';
import { PERSONAL_DATA } from '../personal-data.js';

export class UserExportView extends schema.schemaOf({
  userId: schema.uuid(),
  exportedAt: schema.instant(),
  data: schema.field<Record<string, Record<string, unknown>[]>>(
    {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'object' } },
    },
    `The rows of each table, with all their columns but hashes and encrypted ones: ${PERSONAL_DATA.map((part) => `\`${keyOf(part)}\``).join(', ')}. Further tables and columns may follow`,
  ),
}) {}
